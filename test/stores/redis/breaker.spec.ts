import fc from 'fast-check';
import type { BreakerState } from '../../../src/core/store-event.js';
import { Breaker, type Ticket } from '../../../src/stores/redis/breaker.js';

const T0 = 1_700_000_000_000;

/** A breaker, what it told, and shorthands: a command that is sent and ends at once. */
function create() {
  const told: BreakerState[] = [];
  const breaker = new Breaker((state) => told.push(state));
  const send = (now = T0): Ticket => {
    const ticket = breaker.admit(now);
    if (!ticket) throw new Error(`The breaker is ${breaker.state} and admits nothing`);
    return ticket;
  };
  const fail = (times: number, now = T0) => {
    for (let i = 0; i < times; i++) breaker.failed(send(now), now);
  };
  const succeed = (times: number, now = T0) => {
    for (let i = 0; i < times; i++) breaker.succeeded(send(now));
  };
  return { breaker, told, send, fail, succeed };
}

/** One that opened at T0. */
function createOpen() {
  const made = create();
  made.fail(5);
  made.told.length = 0;
  return made;
}

describe('a closed breaker', () => {
  it('lets everything through, and has nothing to wait for', () => {
    const { breaker, told } = create();
    for (let i = 0; i < 100; i++) expect(breaker.admit(T0)?.kind).toBe('send');
    expect(breaker.state).toBe('closed');
    expect(breaker.leftMillis(T0)).toBe(0);
    expect(told).toEqual([]);
  });

  it('opens at the fifth failure in a row, not at the fourth', () => {
    const { breaker, told, fail } = create();
    fail(4);
    expect(breaker.state).toBe('closed');
    fail(1);
    expect(breaker.state).toBe('open');
    expect(told).toEqual(['open']);
  });

  it('begins to count anew at a success', () => {
    const { breaker, fail, succeed } = create();
    fail(4);
    succeed(1);
    fail(4);
    expect(breaker.state).toBe('closed');
    fail(1);
    expect(breaker.state).toBe('open');
  });

  it('opens when half of the last 20 failed, as soon as 20 are known', () => {
    const { breaker, fail, succeed } = create();
    for (let i = 0; i < 9; i++) {
      fail(1);
      succeed(1);
    }
    fail(1); // 19 are known, 10 of them failed
    expect(breaker.state).toBe('closed');
    fail(1); // the twentieth
    expect(breaker.state).toBe('open');
  });

  it('stays closed when fewer than half of the last 20 failed', () => {
    const { breaker, fail, succeed } = create();
    for (let round = 0; round < 50; round++) {
      fail(3);
      succeed(4);
    }
    expect(breaker.state).toBe('closed');
  });

  it('forgets what was before the last 20', () => {
    const { breaker, fail, succeed } = create();
    for (let i = 0; i < 9; i++) {
      fail(1);
      succeed(1);
    }
    succeed(20);
    for (let i = 0; i < 9; i++) {
      fail(1);
      succeed(1);
    }
    expect(breaker.state).toBe('closed'); // 9 of the last 20; 18 of all
    fail(1);
    expect(breaker.state).toBe('open'); // 10 of the last 20
  });

  it('counts a command once, whatever is told of it later', () => {
    const { breaker, send } = create();
    const slow = send();
    for (let i = 0; i < 10; i++) breaker.failed(slow, T0);
    expect(breaker.state).toBe('closed');
    for (let i = 0; i < 3; i++) breaker.failed(send(), T0);
    breaker.succeeded(slow); // late: it was a failure, and does not break the row
    breaker.failed(send(), T0);
    expect(breaker.state).toBe('open');
  });
});

describe('an open breaker', () => {
  it('refuses for one second, to the millisecond, then lets exactly one probe through', () => {
    const { breaker, told } = createOpen();
    expect(breaker.admit(T0)).toBeUndefined();
    expect(breaker.admit(T0 + 999)).toBeUndefined();
    expect(told).toEqual([]);
    expect(breaker.admit(T0 + 1000)?.kind).toBe('probe');
    expect(told).toEqual(['half-open']);
    for (let i = 0; i < 100; i++) expect(breaker.admit(T0 + 1000)).toBeUndefined();
  });

  it('says how long until the next probe', () => {
    const { breaker } = createOpen();
    expect(breaker.leftMillis(T0)).toBe(1000);
    expect(breaker.leftMillis(T0 + 999)).toBe(1);
    expect(breaker.leftMillis(T0 + 1000)).toBe(0);
    expect(breaker.leftMillis(T0 + 60_000)).toBe(0);
    breaker.admit(T0 + 60_000);
    expect(breaker.leftMillis(T0 + 60_250)).toBe(750);
  });

  it('closes at the success of the probe, with a history that is empty', () => {
    const { breaker, told, fail, send } = createOpen();
    breaker.succeeded(send(T0 + 1000));
    expect(breaker.state).toBe('closed');
    expect(told).toEqual(['half-open', 'closed']);
    fail(4, T0 + 1001);
    expect(breaker.state).toBe('closed');
    fail(1, T0 + 1001);
    expect(breaker.state).toBe('open');
  });

  it('needs 20 outcomes again to know of a half, once it has closed', () => {
    const { breaker, send, fail, succeed } = create();
    succeed(20);
    fail(5);
    breaker.succeeded(send(T0 + 1000));
    for (let i = 0; i < 9; i++) {
      fail(1, T0 + 1001);
      succeed(1, T0 + 1001);
    }
    fail(1, T0 + 1001); // 10 of 19
    expect(breaker.state).toBe('closed');
    succeed(1, T0 + 1001);
    fail(1, T0 + 1001);
    expect(breaker.state).toBe('open');
  });

  it('opens for another second at the failure of the probe, from then on', () => {
    const { breaker, told, send } = createOpen();
    breaker.failed(send(T0 + 1000), T0 + 1100);
    expect(told).toEqual(['half-open', 'open']);
    expect(breaker.admit(T0 + 2099)).toBeUndefined();
    expect(breaker.admit(T0 + 2100)?.kind).toBe('probe');
  });

  it('sends another probe when nothing was heard of the first for a second', () => {
    const { breaker, told, send } = createOpen();
    send(T0 + 1000);
    expect(breaker.admit(T0 + 1999)).toBeUndefined();
    expect(breaker.admit(T0 + 2000)?.kind).toBe('probe');
    expect(breaker.admit(T0 + 2000)).toBeUndefined();
    expect(told).toEqual(['half-open']); // still the same state
  });

  it('listens to the present probe only, once there is another', () => {
    const { breaker, send } = createOpen();
    const first = send(T0 + 1000);
    const second = send(T0 + 2000);
    breaker.succeeded(first);
    expect(breaker.state).toBe('half-open');
    breaker.failed(first, T0 + 2500);
    expect(breaker.leftMillis(T0 + 2500)).toBe(500); // not put off by the one that was given up
    breaker.succeeded(second);
    expect(breaker.state).toBe('closed');
  });

  it('is not closed by commands that were sent before it opened', () => {
    const { breaker, told, send, fail } = create();
    const late = Array.from({ length: 30 }, () => send());
    fail(5);
    for (const ticket of late.slice(0, 10)) breaker.succeeded(ticket);
    expect(breaker.state).toBe('open');
    send(T0 + 1000);
    for (const ticket of late.slice(10, 20)) breaker.succeeded(ticket);
    expect(breaker.state).toBe('half-open');
    for (const ticket of late.slice(20)) breaker.failed(ticket, T0 + 1500);
    expect(breaker.state).toBe('half-open');
    expect(told).toEqual(['open', 'half-open']);
  });

  it('is not kept open by the failures of commands that were sent before it opened', () => {
    const { breaker, send, fail } = create();
    const late = Array.from({ length: 30 }, () => send());
    fail(5);
    for (const ticket of late) breaker.failed(ticket, T0 + 900);
    expect(breaker.admit(T0 + 1000)?.kind).toBe('probe');
  });

  it('keeps late outcomes out of the history after it closed again', () => {
    const { breaker, send, fail } = create();
    const late = Array.from({ length: 5 }, () => send());
    fail(5);
    breaker.succeeded(send(T0 + 1000));
    for (const ticket of late) breaker.failed(ticket, T0 + 1001);
    expect(breaker.state).toBe('closed');
  });
});

/** The same in plain words: lists of outcomes, and no tickets, since all end at once. */
function modelOf() {
  let outcomes: boolean[] = [];
  let openUntil: number | undefined;
  return (now: number, ok: boolean): 'sent' | 'refused' => {
    if (openUntil !== undefined && now < openUntil) return 'refused';
    if (openUntil !== undefined) {
      openUntil = ok ? undefined : now + 1000;
      outcomes = [];
      return 'sent';
    }
    outcomes.push(ok);
    const last = outcomes.slice(-20);
    const five = outcomes.slice(-5);
    const inARow = five.length === 5 && five.every((one) => !one);
    const half = last.length === 20 && last.filter((one) => !one).length >= 10;
    if (inARow || half) openUntil = now + 1000;
    return 'sent';
  };
}

it('sends what lists of outcomes say, whatever the outcomes and times', () => {
  const steps = fc.array(fc.tuple(fc.nat({ max: 400 }), fc.boolean()), { maxLength: 300 });
  fc.assert(
    fc.property(steps, (all) => {
      const breaker = new Breaker();
      const model = modelOf();
      let now = T0;
      for (const [pause, ok] of all) {
        now += pause;
        const ticket = breaker.admit(now);
        if (ticket && ok) breaker.succeeded(ticket);
        if (ticket && !ok) breaker.failed(ticket, now);
        expect(ticket ? 'sent' : 'refused').toBe(model(now, ok));
      }
    }),
  );
});
