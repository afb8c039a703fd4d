import { type AddressInfo, connect, type Socket } from 'node:net';
import { Controller, Get } from '@nestjs/common';
import { until } from '../support/until.js';
import { ADAPTERS, start } from './support.js';

@Controller()
class Reports {
  static made = 0;

  @Get('report')
  make() {
    Reports.made++;
    return {};
  }
}

describe.each(ADAPTERS)('clients that hang up at once, on %s', (adapter) => {
  it('are limited, though their address cannot be told any more', async () => {
    Reports.made = 0;
    // Who asks is looked up elsewhere; meanwhile the client goes.
    const goOn: (() => void)[] = [];
    const user = () => new Promise<undefined>((resolve) => goOn.push(() => resolve(undefined)));
    const limits = { user, rules: { default: 'fixed-window,2,10' } };
    const { app, service } = await start(adapter, { limits, controllers: [Reports] });
    let decided = 0;
    service.decisions$.subscribe(() => decided++);
    const accepted: Socket[] = [];
    const server = app.getHttpServer().on('connection', (socket: Socket) => accepted.push(socket));
    const { port } = server.address() as AddressInfo;
    for (let i = 1; i <= 5; i++) {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /report HTTP/1.1\r\nHost: shop\r\n\r\n');
      await until('it is asked who that is', () => goOn.length === i);
      socket.destroy();
    }
    await until('all are gone', () => accepted.every(({ destroyed }) => destroyed));
    for (const go of goOn) go();
    await until('all are decided', () => decided === 5);
    await new Promise((resolve) => setImmediate(resolve));
    expect(Reports.made).toBe(2);
  });
});
