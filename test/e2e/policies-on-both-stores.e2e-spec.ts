import { Controller, type ExecutionContext, Get, Param, Res } from '@nestjs/common';
import {
  Clock,
  type Decision,
  MemoryStore,
  RateLimit,
  type RateLimitStore,
  type Reservation,
} from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import type request from 'supertest';
import { turn, WatchedClock } from '../core/waiting.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { byHeader, left, type Running, start } from './support.js';

/** Midnight, so that windows of 10 s begin at 0. */
const MIDNIGHT = 1_767_225_600_000;

/*
 * What each feature says, the same on every store, worked out by hand. A line: when, in ms from
 * midnight; the deed; what is said. Of a decision `in` or `no`, what is left and, where it is
 * refused, how long to wait; of a request its status, what is left and `Retry-After`.
 */
interface Feature {
  readonly rules: object | string;
  readonly more?: object;
  readonly trace: string;
}

const header = (name: string) => (ctx: ExecutionContext) =>
  ctx.switchToHttp().getRequest().headers[name];

const FEATURES: Readonly<Record<string, Feature>> = {
  'a dimension of the application': {
    rules: { default: 'fixed-window,3,10,by=tenant' },
    more: { dimensions: { tenant: header('x-tenant') }, address: header('x-ip') },
    trace: `
          0 get /plain alice tenant=acme → 200 2
       1000 get /plain bob tenant=acme → 200 1
       1000 get /plain bob tenant=apex → 200 2
       2000 check carol mail tenant=acme → in 0
       3000 get /plain alice tenant=acme → 429 0 7
       3000 get /plain alice ip=192.0.2.1 → 200 2     # its address stands in
       4000 get /plain bob ip=192.0.2.1 → 200 1
      10000 get /plain alice tenant=acme → 200 2
    `,
  },
  'two rules, by address and by a secret': {
    rules: { default: 'fixed-window,2,10,by=ip & fixed-window,3,1m,by=api-key' },
    more: {
      dimensions: { 'api-key': { value: header('x-api-key'), secret: true } },
      secretKey: 'sixteen or more characters',
      address: header('x-ip'),
    },
    trace: `
          0 get /plain - ip=192.0.2.1 api-key=k → 200 1
          0 get /plain - ip=192.0.2.1 api-key=k → 200 0
       1000 get /plain - ip=192.0.2.1 api-key=k → 429 0 9
       1000 get /plain - ip=192.0.2.2 api-key=k → 200 1      # the address 1, the key 0
       2000 get /plain - ip=192.0.2.2 api-key=k → 429 1 58
       2000 get /plain - ip=192.0.2.2 api-key=l → 200 0
       2000 check - mail ip=192.0.2.3 api-key=k → no 0 58000
      10000 get /plain - ip=192.0.2.1 api-key=l → 200 1
    `,
  },
  'a tier by its name, and rules that are answered': {
    rules: {
      default: 'fixed-window,1,10',
      tier: { pro: { default: 'fixed-window,3,10', api: { mail: 'fixed-window,2,10' } } },
    },
    more: {
      tierOf: (id: string) =>
        ({
          alice: 'pro',
          carol: 'token-bucket,2,10',
          dave: { api: { mail: 'fixed-window,4,10' } },
        })[id],
    },
    trace: `
          0 get /plain alice → 200 2
          0 check alice mail → in 1
          0 check alice mail → in 0
          0 check alice mail → no 0 10000
       1000 get /plain bob → 200 0
       1000 get /plain bob → 429 0 9
       1000 get /plain carol → 200 1
       1000 get /plain carol → 200 0
       1000 get /plain carol → 429 0 5
       2000 check dave mail → in 3
       2000 check dave other → in 0       # no rules of his: the default
    `,
  },
  'a rule in shadow mode': {
    rules: { default: 'fixed-window,3,10 & token-bucket,1,2,name=tried,mode=shadow' },
    trace: `
          0 get /plain alice → 200 2
          0 get /plain alice → 200 1 # would refuse
          0 told → tried quota 2000
       2000 get /plain alice → 200 0
       2000 told → -
       2000 get /plain alice → 429 0 8
       2000 told → -
       2000 explain alice /plain → default 0 & tried 0
       4000 explain alice /plain → default 0 & tried 1
    `,
  },
  'rules that are reloaded': {
    rules: 'default = fixed-window,2,10\nuser.bob = token-bucket,4,8',
    trace: `
          0 check alice mail → in 1
          0 check alice mail → in 0
          0 check alice mail → no 0 10000
          0 check bob mail cost=4 → in 0
          0 reload default=fixed-window,4,10;user.bob=token-bucket,8,8 → 2 changes
          0 check alice mail → in 1
       2000 check bob mail → in 1         # of 8 in 8 s
       2000 reload default=fixed-window,1,10 → 2 changes
       2000 check alice mail → no 0 8000
       2000 check bob mail → in 0         # by the default now
       2000 reload default=fixed-windw,9,10 → refused
       3000 reload default=sliding-window,1,10 → 1 change, anew at default
       3000 check alice mail → in 0
      12999 check alice mail → no 0 1
      13000 check alice mail → in 0
    `,
  },
  'a block': {
    rules: { default: 'fixed-window,3,10 & token-bucket,5,10,by=user' },
    trace: `
          0 check alice mail → in 2
       1000 block alice mail 20000 → true
       1000 check alice mail → no 2 20000
       1000 check alice other → no 3 20000   # the bucket is by user alone
       1000 check bob mail → in 2
      20999 check alice mail → no 3 1
      21000 check alice mail → in 2
      22000 block alice mail 5000 → true
      23000 unblock alice mail
      23000 check alice mail → in 1
    `,
  },
  reservations: {
    rules: { default: 'fixed-window,10,10' },
    trace: `
          0 take a alice mail 6 → in 4
       1000 take b alice mail 5 → no 4 9000
       1000 commit a 2
       1000 take b alice mail 5 → in 3
       2000 cancel b
       2000 cancel b
       2000 check alice mail cost=8 → in 0
      10000 take c alice mail 3 → in 7
      20000 cancel c
      20000 check alice mail → in 9
    `,
  },
  'failures that are counted over HTTP': {
    rules: {},
    trace: `
          0 get /login/200 alice → 200 1
          0 get /login/401 alice → 401 1
       1000 get /login/200 alice → 200 0
       1000 get /login/401 alice → 401 0
       2000 get /login/200 alice → 429 0 8
       2000 get /login/200 bob → 200 1
       3000 get /login/500 bob → 500 1
       3000 get /login/200 bob → 200 1
    `,
  },
  'a cost that is known afterwards, over HTTP': {
    rules: {},
    trace: `
          0 get /tokens/4 alice → 200 10
          0 explain alice /tokens/:n → Shop.tokens 16
          0 get /tokens/15 alice → 200 6
          0 explain alice /tokens/:n → Shop.tokens 1
       1000 get /tokens/1 alice → 429 1 9
      10000 get /tokens/25 alice → 200 10
      10000 explain alice /tokens/:n → Shop.tokens 0
    `,
  },
  acquire: {
    rules: { default: 'token-bucket,1,2' },
    trace: `
          0 check alice mail → in 0
          0 acquire a alice mail
       1000 acquire b alice mail
       2000 done a → in 0
       4000 done b → in 0
       4000 acquire c alice mail timeout=1999
       4000 done c → no 0 2000
       4000 acquire d bob mail
       4000 done d → in 0
    `,
  },
  'a rule that has requests wait': {
    rules: { default: 'token-bucket,1,2,wait=3s' },
    trace: `
          0 get /plain alice → 200 0
          0 send a /plain alice
       2000 done a → 200 0
       2000 send b /plain alice
       2000 get /plain alice → 429 0 2      # behind b it would wait 4 s; the hint is the counter's
       4000 done b → 200 0
    `,
  },
};

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('fixed-window,2,10,count=failures')
  @Get('login/:status')
  login(
    @Param('status') status: string,
    @Res({ passthrough: true }) response: { status(n: number): void },
  ) {
    response.status(Number(status));
    return {};
  }

  @RateLimit('fixed-window,20,10', { cost: 10, settle: (_ctx, answer) => answer.n })
  @Get('tokens/:n')
  tokens(@Param('n') n: string) {
    return { n: Number(n) };
  }
}

// ── how a trace is played ─────────────────────────────────────────────────────────────────────────

const linesOf = (trace: string) =>
  trace
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter(Boolean);

const saidOf = ({ allowed, remaining, retryAfterMillis }: Decision) =>
  allowed ? `in ${remaining}` : `no ${remaining} ${retryAfterMillis}`;

function answered(response: request.Response): string {
  const after = response.headers['retry-after'];
  return [response.status, left(response), ...(after === undefined ? [] : [after])].join(' ');
}

/** `tenant=acme cost=2` as an object. */
const fieldsOf = (words: readonly string[]) =>
  Object.fromEntries(words.map((word) => word.split('=') as [string, string]));

/** Does one deed after another. */
class Player {
  private readonly reservations = new Map<string, Reservation>();
  private readonly pending = new Map<string, Promise<string>>();
  private told: string[] = [];
  private changed = '';

  constructor(
    private readonly app: Running,
    private readonly clock: WatchedClock,
  ) {
    app.service.events$.subscribe((event) => {
      if (event.type === 'would-refuse') {
        const { policy, reason, retryAfterMillis } = event.decision;
        this.told.push(`${policy} ${reason} ${retryAfterMillis}`);
      }
      if (event.type !== 'reloaded') return;
      const anew = event.changes.filter(({ restarts }) => restarts).map(({ place }) => place);
      const number = event.changes.length;
      const lost = anew.length > 0 ? `, anew at ${anew}` : '';
      this.changed = `${number} change${number === 1 ? '' : 's'}${lost}`;
    });
  }

  async play(deed: string): Promise<string | undefined> {
    const [at, verb, ...words] = deed.split(' ') as [string, keyof Player['deeds'], ...string[]];
    this.clock.set(MIDNIGHT + Number(at));
    return (await this.deeds[verb](words)) as string | undefined;
  }

  private readonly deeds = {
    check: async ([who, api, ...rest]: string[]) => {
      const { cost, ...dimensions } = fieldsOf(rest);
      const options = { dimensions, ...(cost && { cost: Number(cost) }) };
      return saidOf(await this.app.service.check(user(who), api!, options));
    },
    get: async ([path, who, ...rest]: string[]) => {
      const response = await this.request(path!, who!, rest);
      await turn(); // what hangs on its end is on its way by then
      return answered(response);
    },
    send: async ([name, path, who]: string[]) => {
      await this.leave(name!, this.request(path!, who!, []).then(answered), true);
    },
    acquire: async ([name, who, api, ...rest]: string[]) => {
      const { timeout } = fieldsOf(rest);
      const options = timeout === undefined ? {} : { timeoutMillis: Number(timeout) };
      await this.leave(
        name!,
        this.app.service.acquire(user(who), api!, options).then(saidOf),
        false,
      );
    },
    done: ([name]: string[]) => this.pending.get(name!)!,
    reload: async ([...words]: string[]) => {
      this.changed = 'refused';
      try {
        this.app.service.reload(words.join(' ').replaceAll(';', '\n'));
      } catch {}
      return this.changed;
    },
    block: async ([who, api, millis]: string[]) =>
      String(await this.app.service.block(user(who), api!, Number(millis))),
    unblock: async ([who, api]: string[]) => this.app.service.unblock(user(who), api!),
    take: async ([name, who, api, cost]: string[]) => {
      const reservation = await this.app.service.reserve(user(who), api!, { cost: Number(cost) });
      this.reservations.set(name!, reservation);
      return saidOf(reservation.decision);
    },
    commit: async ([name, actual]: string[]) =>
      this.reservations.get(name!)!.commit(Number(actual)),
    cancel: async ([name]: string[]) => this.reservations.get(name!)!.cancel(),
    explain: async ([who, api]: string[]) => {
      const { rules } = await this.app.service.explain(user(who), api!);
      return rules.map(({ policy, remaining }) => `${policy} ${remaining}`).join(' & ');
    },
    told: async () => {
      // A request does not wait for rules in shadow mode; what is asked after them is answered after.
      await this.app.service.peek('nobody', '/plain');
      await turn();
      return this.told.splice(0).join(', ') || '-';
    },
  };

  /** Goes on when it waits, or is done. */
  private async leave(name: string, answer: Promise<string>, waits: boolean): Promise<void> {
    const before = this.clock.slept.length;
    let done = false;
    this.pending.set(name, answer);
    void answer.finally(() => {
      done = true;
    });
    if (waits) await until('it waits', () => this.clock.slept.length > before || done);
    // Who stands behind another does not sleep himself.
    for (let i = 0; i < 3; i++) await this.app.service.peek('nobody', 'nothing');
    await turn();
  }

  private request(path: string, who: string, rest: readonly string[]) {
    const headers = Object.entries(fieldsOf(rest)).map(([name, value]) => [`x-${name}`, value]);
    const all = Object.fromEntries(headers);
    return this.app.http.get(path).set(who === '-' ? all : { ...all, 'x-user': who });
  }
}

const user = (who: string | undefined) => (who === '-' ? undefined : who);

async function played(store: RateLimitStore, { rules, more, trace }: Feature): Promise<string[]> {
  const clock = new WatchedClock(MIDNIGHT);
  const app = await start('express', {
    controllers: [Shop],
    limits: byHeader(rules, { ...more, store }),
    override: (builder) => builder.overrideProvider(Clock).useValue(clock),
  });
  const player = new Player(app, clock);
  const said: string[] = [];
  for (const line of linesOf(trace)) {
    const deed = line.split(' →')[0]!;
    const answer = await player.play(deed);
    said.push(answer === undefined ? deed : `${deed} → ${answer}`);
  }
  return said;
}

const features = Object.entries(FEATURES);

describe('the trace of a feature, with counters in memory', () => {
  it.each(features)('%s', async (_, feature) => {
    expect(await played(new MemoryStore(), feature)).toEqual(linesOf(feature.trace));
  });
});

describeWithRedis('the trace of a feature, with counters in Redis', () => {
  let server: RedisServer;
  let stores = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  afterAll(() => server.stop());

  it.each(features)('%s', async (_, feature) => {
    const target = { url: `redis://127.0.0.1:${server.port}` };
    const prefix = `feature-${++stores}`;
    const store = new RedisStore(target, { prefix, time: 'clock', timeoutMillis: 2000 });
    await until('the store is connected', () => store.connected);
    expect(await played(store, feature)).toEqual(linesOf(feature.trace));
  });
});
