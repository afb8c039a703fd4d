/*
 * Requests that go to Redis in one call. Those of the same counters and the same cost that come one
 * after another are one entry, `n` times: the script admits as many as fit, and the numbers of
 * before tell each its own decision. A request joins an earlier entry only if no entry in between
 * touched one of its counters; so everything happens in the order in which it was asked.
 */
import type { Cells, View } from '../../core/algorithms/index.js';
import type { Decision } from '../../core/decision.js';
import { decideTogether } from '../../core/joint-decision.js';
import type { AlgorithmName } from '../../core/rule-fields.js';
import type { RemoteCounter, RemotePlan } from './remote-counter.js';
import { PEEK, type Request, TAKE } from './request.js';

/** Entries of one call: a script keeps the server from everything else while it runs. */
export const MOST_ENTRIES = 64;

const UNREADABLE = -1;
const BLOCKED = -2;

/** One request, or several that are alike: then `more` has the others, in their order. */
interface Entry {
  readonly request: Request;
  more: Request[] | undefined;
}

interface KeyUse {
  readonly number: number;
  readonly of: RemotePlan;
  last: Entry;
}

/**
 * Told of counters that refused, with their numbers, unless something was asked of them after that:
 * for who remembers refusals.
 */
export type OnRefusal = (request: Request, cells: readonly Cells[], nowMillis: number) => void;

export class Batch {
  readonly entries: Entry[] = [];
  private readonly uses = new Map<string, KeyUse>();
  private firstPlan: RemotePlan | undefined;
  /** Whether all are takes from single counters of one rule, each counter once. */
  private uniform = true;

  /** Answers false when this batch has no place for the request: then another begins. */
  add(request: Request): boolean {
    const { counters } = request;
    const earlier = this.uses.get(counters[0]!.key)?.last;
    if (earlier && this.joins(request, earlier)) {
      if (earlier.more) earlier.more.push(request);
      else earlier.more = [request];
      return true;
    }
    if (this.entries.length >= MOST_ENTRIES || !this.fits(request)) return false;
    const entry: Entry = { request, more: undefined };
    this.entries.push(entry);
    for (const counter of counters) this.use(counter, entry);
    if (request.action !== TAKE || request.count === 0 || counters.length > 1) this.uniform = false;
    return true;
  }

  get first(): Request {
    return this.entries[0]!.request;
  }

  /** When the earliest of its requests arrived. */
  get arrivedAt(): number {
    return Math.min(...this.entries.map(({ request }) => request.arrivedAt));
  }

  get keys(): IterableIterator<string> {
    return this.uses.keys();
  }

  /** The algorithm whose quick script can do it all; undefined for the general one. */
  get single(): AlgorithmName | undefined {
    return this.uniform ? this.firstPlan!.plan.rule.algorithm : undefined;
  }

  /** What follows the time and the deadline in the script's arguments. */
  argumentsTo(args: string[]): void {
    if (this.uniform) {
      args.push(...this.firstPlan!.numbers);
      if (this.entries.every(({ request, more }) => request.count === 1 && !more)) return;
      for (const entry of this.entries) args.push(String(entry.request.count), `${times(entry)}`);
      return;
    }
    const rules = [...new Set([...this.uses.values()].map(({ of }) => of))];
    args.push(String(rules.length));
    for (const { codec, numbers } of rules) args.push(String(codec.number), ...numbers);
    for (const { of } of this.uses.values()) args.push(String(rules.indexOf(of) + 1));
    for (const entry of this.entries) {
      const { request } = entry;
      args.push(String(request.counters.length));
      for (const { key } of request.counters) args.push(String(this.uses.get(key)!.number));
      const number = request.action === TAKE ? times(entry) : request.time;
      args.push(String(request.action), String(request.count), String(number));
    }
  }

  /** Tells all requests what the script replied. */
  settle(reply: readonly number[], onRefusal: OnRefusal): void {
    let at = 1;
    for (const entry of this.entries) {
      const { request } = entry;
      const status = reply[at++]!;
      if (status === UNREADABLE) {
        for (const one of all(entry)) one.failed(new UnreadableError(one.counters));
      } else if (request.action > PEEK) {
        const takenAtMillis = request.nowMillis ?? reply[0]!;
        request.done({ decision: undefined, blockedMillis: 0, number: status, takenAtMillis });
      } else {
        const blockedMillis = status === BLOCKED ? reply[at++]! : 0;
        const admitted = blockedMillis > 0 ? 0 : status;
        at = decideAll(entry, reply, at, admitted, blockedMillis, (...known) => {
          const last = request.counters.every(
            ({ key }) => this.uses.get(key)!.last.request === request,
          );
          if (last) onRefusal(...known);
        });
      }
    }
  }

  get requests(): Request[] {
    return this.entries.flatMap(all);
  }

  /** Whether one of these counters is met. */
  meets(counters: readonly RemoteCounter[]): boolean {
    return counters.some(({ key }) => this.uses.has(key));
  }

  failed(error: Error): void {
    for (const request of this.requests) request.failed(error);
  }

  private joins(request: Request, { request: other }: Entry): boolean {
    const { counters, action, count } = request;
    if (action !== other.action || count !== other.count || action > PEEK) return false;
    if (counters.length !== other.counters.length) return false;
    for (let i = 0; i < counters.length; i++) {
      const { key, of } = counters[i]!;
      const use = this.uses.get(key);
      if (key !== other.counters[i]!.key || use!.last.request !== other || use!.of !== of) {
        return false;
      }
    }
    return true;
  }

  /** A key has one rule in a call: under a reload its limit may have changed in between. */
  private fits({ counters }: Request): boolean {
    return counters.every(({ key, of }) => (this.uses.get(key)?.of ?? of) === of);
  }

  private use({ key, of }: RemoteCounter, entry: Entry): void {
    const use = this.uses.get(key);
    this.firstPlan ??= of;
    if (of !== this.firstPlan || use) this.uniform = false;
    if (use) use.last = entry;
    else this.uses.set(key, { number: this.uses.size + 1, of, last: entry });
  }
}

/** A counter holds what none of ours wrote. */
export class UnreadableError extends Error {
  constructor(counters: readonly RemoteCounter[]) {
    const keys = counters.map(({ key }) => JSON.stringify(key)).join(', ');
    super(`Of the keys ${keys} at least one holds a value that is none of a rate limiter's`);
  }
}

const view: View = { remaining: 0, resetAfter: 0, moreAfter: 0 };
/** Cells of the counters of one entry; grown as needed. */
const scratch: Cells[] = [];

function times({ more }: Entry): number {
  return 1 + (more?.length ?? 0);
}

function all({ request, more }: Entry): Request[] {
  return more ? [request, ...more] : [request];
}

/** The decisions of one entry, from its numbers in the reply; answers where those end. */
function decideAll(
  { request, more }: Entry,
  reply: readonly number[],
  from: number,
  admitted: number,
  blockedMillis: number,
  onRefusal: OnRefusal,
): number {
  const { counters, count: cost, action, nowMillis } = request;
  const now = nowMillis ?? reply[0]!;
  let at = from;
  for (let i = 0; i < counters.length; i++) {
    const { codec } = counters[i]!.of;
    scratch[i] ??= new Float64Array(4);
    codec.load(reply, at, now, scratch[i]!);
    at += codec.width;
  }
  const plans = counters.map(({ of }) => of.plan);
  const decide = (take: boolean) => decideTogether(plans, scratch, now, cost, take, view);
  let refusal: Decision | undefined;
  for (let i = 0, n = times({ request, more }); i < n; i++) {
    let decision = refusal;
    if (!decision) {
      decision = decide(action === TAKE && i < admitted);
      // Nothing changes any more: the others are refused alike.
      if (i >= admitted) refusal = decision;
    }
    const one = i === 0 ? request : more![i - 1]!;
    one.done({ decision, blockedMillis, number: 0, takenAtMillis: now });
  }
  const quota = refusal?.reason === 'quota' && action === TAKE;
  if (quota && blockedMillis === 0) onRefusal(request, scratch, now);
  return at;
}
