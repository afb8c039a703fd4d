import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  UseGuards,
} from '@nestjs/common';
import { ADAPTERS, start, statuses } from './support.js';

class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    request.user = { id: request.headers['x-user'] };
    return true;
  }
}

@Controller()
@UseGuards(SignIn)
class Orders {
  @Get('orders')
  list() {
    return [];
  }
}

const as = (user: string) => ({ 'x-user': user });
const BY_ADDRESS = { default: 'fixed-window,9,10,by=ip' };

describe.each(ADAPTERS)('rules that tell users apart and come by a reload, on %s', (adapter) => {
  it('are warned of where no handler needed the second door at the start', async () => {
    const limits = { rules: BY_ADDRESS };
    const running = await start(adapter, { limits, controllers: [Orders] });
    running.service.reload({ default: 'fixed-window,9,10,by=global' });
    expect(running.logs.warnings('until a restart')).toEqual([]);
    running.service.reload({ default: 'fixed-window,2,10' });
    running.service.reload({ default: 'fixed-window,3,10' });
    expect(running.logs.warnings('until a restart')).toHaveLength(1);
  });

  it('are in force at once where they come from a file that is watched', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doorman-'));
    const path = join(folder, 'limits.properties');
    writeFileSync(path, 'default = fixed-window,9,10,by=ip');
    const limits = { rulesFile: { path, pollMillis: 1000 } };
    const running = await start(adapter, { limits, controllers: [Orders] });
    const { events$ } = running.service;
    const reloaded = new Promise<void>((resolve) => {
      events$.subscribe(({ type }) => type === 'reloaded' && resolve());
    });
    writeFileSync(path, 'default = fixed-window,2,10');
    const tick = setInterval(() => running.clock.advance(1000), 5);
    await reloaded;
    clearInterval(tick);
    expect(running.logs.warnings('until a restart')).toEqual([]);
    expect(await statuses(running, 3, '/orders', as('alice'))).toEqual([200, 200, 429]);
    expect(await statuses(running, 3, '/orders', as('bob'))).toEqual([200, 200, 429]);
    rmSync(folder, { recursive: true });
  });
});
