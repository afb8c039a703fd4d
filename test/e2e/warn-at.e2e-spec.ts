import { Controller, Get } from '@nestjs/common';
import { MemoryStore, type RateLimitEvent, type RateLimitService } from 'nestjs-doorman';
import { ADAPTERS, byHeader, SlowStore, start, statuses } from './support.js';

const ALICE = { 'x-user': 'alice' };

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }
}

function eventsOf({ events$ }: RateLimitService): RateLimitEvent[] {
  const events: RateLimitEvent[] = [];
  events$.subscribe((event) => events.push(event));
  return events;
}

/** A line an event: who, by which policy, how far. */
const linesOf = (events: readonly RateLimitEvent[]) =>
  events.map((event) =>
    event.type === 'near-limit'
      ? `${event.userId} ${event.api} ${event.policy} ${event.used}/${event.limit}`
      : event.type,
  );

describe.each(ADAPTERS)('a caller who comes near a limit on %s', (adapter) => {
  it('is told of once, as it is passed, however often he comes and is refused', async () => {
    const limits = byHeader({ default: 'fixed-window,10,10' }, { warnAt: 0.8 });
    const app = await start(adapter, { controllers: [Shop], limits });
    const events = eventsOf(app.service);
    await statuses(app, 7, '/plain', ALICE);
    expect(events).toEqual([]);
    await statuses(app, 5, '/plain', ALICE);
    await statuses(app, 3, '/plain', { 'x-user': 'bob' });
    expect(events).toEqual([
      {
        type: 'near-limit',
        policy: 'default',
        used: 8,
        limit: 10,
        userId: 'alice',
        address: undefined,
        api: '/plain',
      },
    ]);
    app.clock.advance(5000); // another box
    await statuses(app, 9, '/plain', ALICE);
    expect(linesOf(events.slice(1))).toEqual(['alice /plain default 8/10']);
  });
});

describe('what is told of a caller near a limit', () => {
  const open = async (rules: object, more: object = { warnAt: 0.8 }) => {
    const { service, clock } = await start('express', { limits: byHeader(rules, more) });
    return { service, clock, events: eventsOf(service) };
  };

  it('is each rule by its own name and limit, in whatever call it was', async () => {
    const { service, events } = await open({
      default: 'fixed-window,5,10 & fixed-window,10,1m,name=minute',
    });
    await service.check('alice', 'mail', { cost: 4 });
    await service.acquire('alice', 'mail');
    await service.reserve('alice', 'news', { cost: 5 });
    await service.check('bob', 'mail', { cost: 3 });
    expect(linesOf(events)).toEqual(['alice mail default 4/5', 'alice news default 5/5']);
    const { service: other, events: told } = await open({
      default: 'fixed-window,10,10 & fixed-window,5,1m,name=minute',
    });
    await other.check('alice', 'mail', { cost: 4 });
    await other.check('alice', 'mail', { cost: 2 }); // refused
    expect(linesOf(told)).toEqual(['alice mail minute 4/5']);
  });

  it('is nothing where nobody asked for it, and of peeks', async () => {
    const { service, events } = await open({ default: 'fixed-window,5,10' }, {});
    await service.check('alice', 'mail', { cost: 5 });
    const asked = await open({ default: 'fixed-window,5,10' });
    await asked.service.peek('alice', 'mail', { cost: 5 });
    await asked.service.explain('alice', 'mail');
    expect([events, asked.events, asked.service.utilisation()]).toEqual([[], [], []]);
  });

  it('is nothing while the store fails', async () => {
    const store = new SlowStore(new MemoryStore());
    store.decide = () => Promise.reject(new Error('no store'));
    const rules = { default: 'fixed-window,2,10,onStoreError=local' };
    const { service, events } = await open(rules, { warnAt: 0.5, store });
    for (let i = 0; i < 3; i++) await service.check('alice', 'mail');
    expect([events, service.utilisation()]).toEqual([[], []]);
  });

  it('goes by the limit that is in force after a reload', async () => {
    const { service, events } = await open({ default: 'fixed-window,10,10' });
    await service.check('alice', 'mail', { cost: 4 });
    service.reload({ default: 'fixed-window,5,10' }); // near already: nobody came there
    await service.check('alice', 'mail');
    expect(linesOf(events)).toEqual(['reloaded']);
    service.reload({ default: 'fixed-window,10,10' });
    await service.check('alice', 'mail', { cost: 3 });
    expect(linesOf(events).slice(2)).toEqual(['alice mail default 8/10']);
  });
});

describe('the utilisation that a service reports', () => {
  it('is in tenths of each policy, refusals too, and goes on when rules are reloaded', async () => {
    const limits = byHeader({ default: 'fixed-window,10,10', api: { mail: 'fixed-window,2,10' } });
    const app = await start('express', { controllers: [Shop], limits });
    const { service } = app;
    await statuses(app, 11, '/plain', ALICE);
    for (let i = 0; i < 3; i++) await service.check('alice', 'mail');
    expect(service.utilisation()).toEqual([
      { policy: 'api:mail', decisions: 3, tenths: [0, 0, 0, 0, 0, 1, 0, 0, 0, 2] },
      { policy: 'default', decisions: 11, tenths: [0, 1, 1, 1, 1, 1, 1, 1, 1, 3] },
    ]);
    service.reload({ default: 'sliding-window,4,10', api: { mail: 'fixed-window,4,10' } });
    await statuses(app, 1, '/plain', { 'x-user': 'bob' });
    await service.check('alice', 'mail');
    expect(service.utilisation()).toEqual([
      { policy: 'api:mail', decisions: 4, tenths: [0, 0, 0, 0, 0, 1, 0, 1, 0, 2] },
      { policy: 'default', decisions: 12, tenths: [0, 1, 2, 1, 1, 1, 1, 1, 1, 3] },
    ]);
  });
});
