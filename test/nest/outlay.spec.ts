import { EventEmitter } from 'node:events';
import type { Counter } from '../../src/core/counter-plan.js';
import { planCounters } from '../../src/core/counter-plan.js';
import { Policy } from '../../src/core/index.js';
import { Outlay } from '../../src/nest/outlay.js';
import type { Taken } from '../../src/nest/settlements.js';

class Response extends EventEmitter {
  statusCode = 200;
  destroyed = false;

  finish(status: number): void {
    this.statusCode = status;
    this.emit('finish');
  }
}

/** An outlay of joined rules, and what is settled of it: `name cost`. */
function outlayOf(policy: string) {
  const placed = { policy: Policy.of(policy), place: 'test', label: 'test' };
  const counters = planCounters(placed).map((plan) => ({ plan, values: ['alice'] }));
  const settled: string[] = [];
  const settle = async (actual: number, these: readonly Counter[]) => {
    settled.push(...these.map(({ plan }) => `${plan.label} ${actual}`));
  };
  const outlay = new Outlay();
  const more = () => outlay.add({ counters, settle } as unknown as Taken);
  more();
  const response = new Response();
  return { outlay, response, settled, more };
}

const JOINED = `fixed-window,9,10,name=all
  & fixed-window,9,10,name=bad,count=failures & fixed-window,9,10,name=good,count=successes`;

describe('an outlay', () => {
  it.each([
    [200, ['bad 0']],
    [399, ['bad 0']],
    [400, ['good 0']],
    [499, ['good 0']],
    [500, ['bad 0', 'good 0']],
    [599, ['bad 0', 'good 0']],
  ])('is given back, after an answer of %i, to those that do not count it', (status, expected) => {
    const { outlay, response, settled } = outlayOf(JOINED);
    outlay.watch(response);
    response.finish(status);
    response.emit('close');
    expect(settled).toEqual(expected);
  });

  it('stays spent when the response is closed before it was finished, whatever comes then', () => {
    const { outlay, response, settled } = outlayOf(JOINED);
    outlay.watch(response);
    response.emit('close');
    response.finish(500);
    expect(settled).toEqual([]);
  });

  it('stays spent when the response was closed before it was watched', () => {
    const { outlay, response, settled } = outlayOf(JOINED);
    response.destroyed = true;
    outlay.watch(response);
    response.finish(500);
    expect(settled).toEqual([]);
  });

  it('is settled at the real cost, whether that or the end of the answer is known first', () => {
    for (const costFirst of [true, false]) {
      const { outlay, response, settled } = outlayOf(JOINED);
      outlay.watch(response);
      if (costFirst) outlay.costs(4);
      response.finish(404);
      if (!costFirst) outlay.costs(4);
      expect(settled.sort()).toEqual(['all 4', 'bad 4', 'good 0']);
    }
  });

  it('is settled once', () => {
    const { outlay, response, settled } = outlayOf(JOINED);
    outlay.watch(response);
    for (const status of [200, 404, 500]) response.finish(status);
    outlay.costs(4);
    outlay.costs(5);
    expect(settled.sort()).toEqual(['all 4', 'bad 0', 'good 4']);
  });

  it('looks at a response once, however often it is told to', () => {
    const { outlay, response } = outlayOf(JOINED);
    outlay.watch(response);
    outlay.watch(response);
    expect(response.listenerCount('finish')).toBe(1);
  });

  it('settles at once what is told when the answer is finished: a rule in shadow mode', () => {
    const { outlay, response, settled, more } = outlayOf(JOINED);
    outlay.watch(response);
    response.finish(200);
    expect(settled).toEqual(['bad 0']);
    more();
    expect(settled).toEqual(['bad 0', 'bad 0']);
  });
});
