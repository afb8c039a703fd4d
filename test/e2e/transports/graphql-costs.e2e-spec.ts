/* What a call costs over GraphQL, and which calls stay counted. */
import { HttpException, ParseIntPipe } from '@nestjs/common';
import { Args, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { RateLimit } from 'nestjs-doorman';
import {
  admitted,
  type GraphqlAnswer,
  leftOf,
  refused,
  SERVERS,
  startGraphql,
} from './graphql-app.js';

/** Passwords that were tried. */
const tried: string[] = [];
beforeEach(() => {
  tried.length = 0;
});

// biome-ignore lint/suspicious/noExplicitAny: arguments of any field
const argumentsOf = (context: { getArgByIndex(index: number): any }) => context.getArgByIndex(1);

@Resolver()
class ShopResolver {
  @RateLimit('fixed-window,100,1h,name=rows', { cost: (context) => argumentsOf(context).first })
  @Query(() => Int, { nullable: true })
  rows(@Args('first', { type: () => Int }) first: number) {
    return first;
  }

  @RateLimit('fixed-window,100,1h', {
    cost: () => 50,
    settle: (context, result: number) => result + argumentsOf(context).fee,
  })
  @Mutation(() => Int, { nullable: true })
  translate(
    @Args('words', { type: () => Int }) words: number,
    @Args('fee', { type: () => Int, defaultValue: 0 }) _fee: number,
  ) {
    if (words < 0) throw new Error('no words');
    return words;
  }

  @RateLimit('fixed-window,3,1h,count=failures')
  @Mutation(() => String, { nullable: true })
  login(@Args('password') password: string) {
    tried.push(password);
    if (password === 'wrong') throw new HttpException('wrong password', 401);
    if (password === 'later') return Promise.reject(new Error('wrong password'));
    return 'token';
  }

  @RateLimit('fixed-window,3,1h,count=failures')
  @Query(() => String, { nullable: true })
  async guess(@Args('password') password: string) {
    tried.push(password);
    await new Promise((resolve) => setImmediate(resolve));
    if (password !== 'sesame') throw new Error('wrong password');
    return 'token';
  }

  @RateLimit('fixed-window,2,1h,count=failures')
  @Query(() => Int, { nullable: true })
  page(@Args('n', ParseIntPipe) n: string) {
    return Number(n);
  }

  @RateLimit('fixed-window,2,1h,count=successes')
  @Mutation(() => Int, { nullable: true })
  order(@Args('items', { type: () => Int }) items: number) {
    if (items === 0) throw new Error('nothing in it');
    return items;
  }
}

const ANN = { user: 'ann' };
const messages = ({ errors }: GraphqlAnswer) => errors.map(({ message }) => message);

describe.each(SERVERS)('What calls cost, %s', (server) => {
  const open = () =>
    startGraphql(server, {
      limits: { rules: { default: 'fixed-window,100,1h' } },
      resolvers: [ShopResolver],
    });

  it('a cost that follows from the arguments is taken for each call, with variables too', async () => {
    const app = await open();
    const query = 'query ($n: Int!) { a: rows(first: 30) b: rows(first: $n) }';
    expect((await app.ask(query, { ...ANN, variables: { n: 50 } })).data).toEqual({ a: 30, b: 50 });
    expect(await leftOf(app, 'ann', 'Query.rows')).toBe(20);
    const more = await app.ask('{ a: rows(first: 21) b: rows(first: 20) c: rows(first: 1) }', ANN);
    expect(more.data).toEqual({ a: null, b: 20, c: null });
    expect(refused(more)).toBe(2);
    expect(await leftOf(app, 'ann', 'Query.rows')).toBe(0);
  });

  it('a cost above the capacity is refused without a hint, since no waiting helps', async () => {
    const app = await open();
    const answer = await app.ask('{ rows(first: 101) }', ANN);
    const { code, policy, retryAfterMillis } = answer.errors[0]?.extensions ?? {};
    expect({ code, policy, retryAfterMillis }).toEqual({
      code: 'TOO_MANY_REQUESTS',
      policy: 'rows',
      retryAfterMillis: undefined,
    });
    expect(await leftOf(app, 'ann', 'Query.rows')).toBe(100);
  });

  it('a cost that is none is an error, no refusal, and takes nothing', async () => {
    const app = await open();
    const answer = await app.ask('{ rows(first: -1) }', ANN);
    expect([answer.data, answer.errors.length, refused(answer)]).toEqual([{ rows: null }, 1, 0]);
    expect(await leftOf(app, 'ann', 'Query.rows')).toBe(100);
  });

  it('each call is settled by its own answer and its own arguments', async () => {
    const app = await open();
    const text = 'mutation { a: translate(words: 5) b: translate(words: 20, fee: 3) }';
    expect((await app.ask(text, ANN)).data).toEqual({ a: 5, b: 20 });
    expect(await leftOf(app, 'ann', 'Mutation.translate')).toBe(72);
    // The estimate has to fit: the second is decided once the first is settled.
    const more = await app.ask('mutation { a: translate(words: 22) b: translate(words: 1) }', ANN);
    expect(more.data).toEqual({ a: 22, b: 1 });
    const last = await app.ask('mutation { a: translate(words: 9) b: translate(words: 1) }', ANN);
    expect(last.data).toEqual({ a: null, b: null });
    expect(await leftOf(app, 'ann', 'Mutation.translate')).toBe(49);
  });

  it('a call that fails stays spent at its estimate', async () => {
    const app = await open();
    const answer = await app.ask('mutation { translate(words: -1) }', ANN);
    expect(messages(answer)).toEqual(['no words']);
    expect(await leftOf(app, 'ann', 'Mutation.translate')).toBe(50);
  });

  it('of a mutation that counts failures the right ones are free and the wrong ones counted', async () => {
    const app = await open();
    for (let i = 0; i < 5; i++) {
      expect((await app.ask('mutation { login(password: "right") }', ANN)).data.login).toBe(
        'token',
      );
    }
    expect(await leftOf(app, 'ann', 'Mutation.login')).toBe(3);
    for (const [password, left] of [
      ['wrong', 2],
      ['later', 1],
      ['right', 1],
      ['wrong', 0],
    ] as const) {
      const answer = await app.ask(`mutation { login(password: "${password}") }`, ANN);
      expect(refused(answer)).toBe(0);
      expect(await leftOf(app, 'ann', 'Mutation.login')).toBe(left);
    }
    expect(refused(await app.ask('mutation { login(password: "right") }', ANN))).toBe(1);
  });

  it('wrong ones under aliases are tried no more often than the limit, right ones between them or not', async () => {
    const app = await open();
    const passwords = ['right', 'wrong', 'right', 'later', 'wrong', 'wrong', 'right'];
    const calls = passwords.map((password, i) => `m${i}: login(password: "${password}")`);
    const answer = await app.ask(`mutation { ${calls.join(' ')} }`, ANN);
    expect(admitted(answer)).toBe(2);
    expect(refused(answer)).toBe(2);
    expect(tried).toEqual(['right', 'wrong', 'right', 'later', 'wrong']);
    expect(await leftOf(app, 'ann', 'Mutation.login')).toBe(0);
  });

  it('of two hundred guesses side by side as many are tried as the limit has', async () => {
    const app = await open();
    const calls = Array.from({ length: 200 }, (_, i) => `g${i}: guess(password: "${i}")`);
    const answer = await app.ask(`{ ${calls.join(' ')} }`, ANN);
    expect(messages(answer).filter((message) => message === 'wrong password')).toHaveLength(3);
    expect(refused(answer)).toBe(197);
    expect(tried).toEqual(['0', '1', '2']);
  });

  it('of guesses in a batch as many are tried as the limit has', async () => {
    const app = await open();
    const batch = Array.from({ length: 10 }, (_, i) => ({ query: `{ guess(password: "${i}") }` }));
    await app.post(batch, { 'x-user': 'ann' });
    expect(tried).toHaveLength(3);
    expect(await leftOf(app, 'ann', 'Query.guess')).toBe(0);
  });

  it('an argument that a pipe turns away is a failure', async () => {
    const app = await open();
    expect((await app.ask('{ page(n: "7") }', ANN)).data).toEqual({ page: 7 });
    for (let i = 0; i < 2; i++) expect(refused(await app.ask('{ page(n: "x") }', ANN))).toBe(0);
    expect(await leftOf(app, 'ann', 'Query.page')).toBe(0);
    expect(refused(await app.ask('{ page(n: "7") }', ANN))).toBe(1);
  });

  it('of a mutation that counts successes the failed ones are free', async () => {
    const app = await open();
    const text = 'mutation { a: order(items: 0) b: order(items: 2) c: order(items: 0) }';
    for (const left of [1, 0]) {
      expect((await app.ask(text, ANN)).data).toEqual({ a: null, b: 2, c: null });
      expect(await leftOf(app, 'ann', 'Mutation.order')).toBe(left);
    }
    expect(refused(await app.ask(text, ANN))).toBe(3);
  });
});
