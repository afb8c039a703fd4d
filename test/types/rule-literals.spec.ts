import { compile, inEveryPlace } from './compile.js';

const ALGORITHMS = 'use token-bucket, fixed-window, sliding-window or sliding-window-counter';
const OPTIONS = 'use burst, by, name, count, mode, onStoreError, wait or final';
const TIMES = 'must be a positive time such as 10, 0.5, 250ms, 5m or 1d';

const wrong: readonly (readonly [text: string, ...explanations: string[]])[] = [
  ['fixd-window,2,10', `✗ unknown algorithm "fixd-window": ${ALGORITHMS}`],
  ['Token-Bucket,5,10', '✗ unknown algorithm "Token-Bucket"'],
  [',5,10', '✗ unknown algorithm ""'],
  ['token-bucket,5', '✗ a rule is algorithm,limit,window, got "token-bucket,5"'],
  ['search,', '✗ a rule is algorithm,limit,window, got "search,"'],
  ['', '✗ a rule or the name of a policy must not be empty'],
  [' \n\t ', '✗ a rule or the name of a policy must not be empty'],
  ['token-bucket,5,10 &', '✗ a rule or the name of a policy must not be empty'],
  ['& search', '✗ a rule or the name of a policy must not be empty'],
  ['token-bucket,0,10', '✗ limit must be a positive whole number, got "0"'],
  ['token-bucket,000,10', '✗ limit must be a positive whole number, got "000"'],
  ['token-bucket,-5,10', '✗ limit must be a positive whole number, got "-5"'],
  ['token-bucket,1.5,10', '✗ limit must be a positive whole number, got "1.5"'],
  ['token-bucket,five,10', '✗ limit must be a positive whole number, got "five"'],
  ['token-bucket, ,10', '✗ limit must be a positive whole number, got ""'],
  ['token-bucket,1_000,10', '✗ limit must be a positive whole number, got "1_000"'],
  ['token-bucket,5,0', `✗ window ${TIMES}, got "0"`],
  ['token-bucket,5,0.00s', `✗ window ${TIMES}, got "0.00s"`],
  ['token-bucket,5,-1m', `✗ window ${TIMES}, got "-1m"`],
  ['token-bucket,5,', `✗ window ${TIMES}, got ""`],
  ['token-bucket,5,10w', `✗ window ${TIMES}, got "10w"`],
  ['token-bucket,5,ms', `✗ window ${TIMES}, got "ms"`],
  ['token-bucket,5,.5', `✗ window ${TIMES}, got ".5"`],
  ['token-bucket,5,5.s', `✗ window ${TIMES}, got "5.s"`],
  ['token-bucket,5,1.2.3', `✗ window ${TIMES}, got "1.2.3"`],
  ['fixed-window,2,10,burst=3', '✗ burst is an option of token-bucket only, not of fixed-window'],
  [
    'sliding-window-counter,2,10,by=ip,burst=3',
    '✗ burst is an option of token-bucket only, not of sliding-window-counter',
  ],
  ['token-bucket,5,10,burst=0', '✗ burst must be a positive whole number, got "0"'],
  ['token-bucket,5,10,by=', '✗ by must not be empty'],
  ['token-bucket,5,10,name= ', '✗ name must not be empty'],
  ['token-bucket,5,10,count=errors', '✗ count must be all, failures or successes, got "errors"'],
  ['token-bucket,5,10,mode=off', '✗ mode must be enforce or shadow, got "off"'],
  ['token-bucket,5,10,onStoreError=x', '✗ onStoreError must be allow, deny or local, got "x"'],
  ['token-bucket,5,10,final=yes', '✗ final must be true or false, got "yes"'],
  ['token-bucket,5,10,wait=soon', `✗ wait ${TIMES}, got "soon"`],
  ['token-bucket,5,10,brust=3', `✗ unknown option "brust": ${OPTIONS}`],
  ['token-bucket,5,10,Burst=3', '✗ unknown option "Burst"'],
  ['token-bucket,5,10,burst', '✗ an option is name=value, got "burst"'],
  ['token-bucket,5,10,', '✗ an option is name=value, got ""'],
  ['token-bucket,5,10,by=ip,burst=3, by = user', '✗ option by is given twice'],
  ['token-bucket,5,10 & fixd-window,2,10 & search', '✗ unknown algorithm "fixd-window"'],
  ['search & token-bucket,0,10', '✗ limit must be a positive whole number, got "0"'],
  [
    'fixd-window,0,0',
    '✗ unknown algorithm "fixd-window"',
    '✗ limit must be a positive whole number, got "0"',
    `✗ window ${TIMES}, got "0"`,
  ],
];

const right: readonly string[] = [
  'token-bucket,5,10',
  'fixed-window,2,10',
  'sliding-window,3,10s',
  'sliding-window-log,3,10s',
  'sliding-window-counter,1000000,1d',
  'token-bucket,007,10',
  'token-bucket,5,0.5',
  'token-bucket,5,1.0',
  'token-bucket,5,1.000s',
  'token-bucket,5,0.25s',
  'token-bucket,5,010',
  'token-bucket,5,250ms',
  'token-bucket,5,2.0ms',
  'token-bucket,5,0.5m',
  'token-bucket,5,1.5h',
  'token-bucket,5,365d',
  'token-bucket,5,10,burst=20',
  'token-bucket,5,10,burst=1,by=ip,name=flood,count=failures,mode=shadow,onStoreError=deny,wait=200ms,final=true',
  'fixed-window,5,10,final=false,wait=0.2,onStoreError=local,mode=enforce,count=successes,by=user+api',
  'fixed-window,5,10,by= tenant + api-key ,count=all,onStoreError=allow',
  '  token-bucket , 5 , 10 , burst = 3 ,by\t=\tip\n',
  '\r\n\u00a0token-bucket\u3000,\v5\f,\u200910\ufeff',
  'token-bucket,10,1,by=ip & token-bucket,100,60,by=api-key',
  'token-bucket,5,10&fixed-window,2,10&sliding-window,3,10',
  'token-bucket,5,10,burst=6 & token-bucket,50,60,burst=60',
  'search',
  ' search ',
  'token-bucket',
  'search & token-bucket,5,10',
  'token-bucket,5,10 & search & uploads',
  Array(60).fill('token-bucket,5,10,by=user+api').join(' & '),
  `token-bucket,5,10,name=${'a'.repeat(500)}`,
  `${' '.repeat(300)}token-bucket,5,10${'\n'.repeat(300)}`,
];

/** Compiled together, since most of the time goes into the libraries' own types. */
function compileGroups(groups: readonly (readonly string[])[]): string[][] {
  const said = compile(groups.flat());
  return groups.map((group) => said.splice(0, group.length));
}

describe('a wrong literal', () => {
  const said = compileGroups(wrong.map(([text]) => inEveryPlace(text)));

  it.each(wrong.map((row, i) => ({ text: row[0], explanations: row.slice(1), said: said[i] })))(
    'does not compile and says why: $text',
    ({ explanations, said = [] }) => {
      expect(said).toHaveLength(3);
      for (const message of said) {
        for (const explanation of explanations) expect(message).toContain(explanation);
      }
    },
  );
});

describe('a right literal', () => {
  const said = compileGroups(right.map(inEveryPlace));

  it.each(right.map((text, i) => ({ text, said: said[i] })))('compiles: $text', ({ said }) => {
    expect(said).toEqual(['', '', '']);
  });
});

const FAULT = '✗ unknown algorithm "fixd-window"';

/** Snippets that must not compile, with a part of what the compiler says. */
const refused: Readonly<Record<string, readonly [snippet: string, said: string]>> = {
  'above a class': [`@RateLimit('fixd-window,2,10') export class Orders {}`, FAULT],
  'as the second of two rules': [`RateLimit('token-bucket,5,10', 'fixd-window,2,10');`, FAULT],
  'beside a cost': [
    `RateLimit('fixd-window,2,10', { cost: (ctx) => 5, settle: (ctx, answer) => answer.tokens });`,
    FAULT,
  ],
  'beside an object': [`RateLimit({ limit: 5, window: 10 }, 'fixd-window,2,10');`, FAULT],
  'as one of two that a condition picks': [
    `RateLimit(Math.random() < 0.5 ? 'token-bucket,5,10' : 'fixd-window,2,10');`,
    FAULT,
  ],
  'in a constant': [`const rule = 'fixd-window,2,10'; RateLimit(rule);`, FAULT],
  'in a template without holes': ['RateLimit(`fixd-window,2,10`);', FAULT],
  'in always': [`RateLimitModule.forRoot({ always: 'fixd-window,2,10' });`, FAULT],
  'in a list in always': [
    `RateLimitModule.forRoot({ always: ['token-bucket,5,10', 'fixd-window,2,10'] });`,
    FAULT,
  ],
  'in rules.always': [`RateLimitModule.forRoot({ rules: { always: 'fixd-window,2,10' } });`, FAULT],
  'under a name in rules.always': [
    `RateLimitModule.forRoot({ rules: { always: { flood: 'fixd-window,2,10' } } });`,
    FAULT,
  ],
  'for an api': [
    `RateLimitModule.forRoot({ rules: { api: { '/login': 'fixd-window,2,10' } } });`,
    FAULT,
  ],
  'in a list for an api': [
    `RateLimitModule.forRoot({ rules: { api: { '/login': [{ limit: 5 }, 'fixd-window,2,10'] } } });`,
    FAULT,
  ],
  'for a policy': [
    `RateLimitModule.forRoot({ rules: { policy: { search: 'fixd-window,2,10' } } });`,
    FAULT,
  ],
  'for a user': [
    `RateLimitModule.forRoot({ rules: { user: { 'vip-1': 'fixd-window,2,10' } } });`,
    FAULT,
  ],
  'in a list for a user': [
    `RateLimitModule.forRoot({ rules: { user: { 'vip-1': ['fixd-window,2,10'] } } });`,
    FAULT,
  ],
  "as the default of a user's small book": [
    `RateLimitModule.forRoot({ rules: { user: { 'vip-1': { default: 'fixd-window,2,10' } } } });`,
    FAULT,
  ],
  "for an api of a tier's small book": [
    `RateLimitModule.forRoot({ rules: { tier: { pro: { api: { '/a': 'fixd-window,2,10' } } } } });`,
    FAULT,
  ],
  'beside functions': [
    `RateLimitModule.forRoot({
      user: (req) => req.user?.id,
      skip: (ctx) => ctx.getHandler().name === 'health',
      rules: { default: 'fixd-window,2,10' },
    });`,
    FAULT,
  ],
  'in what a factory answers': [
    `RateLimitModule.forRootAsync({
      useFactory: () => ({ rules: { default: 'fixd-window,2,10' } }),
    });`,
    FAULT,
  ],
  'for a user in what a factory with a guard beside it answers': [
    `RateLimitModule.forRootAsync({
      guard: false,
      inject: [String],
      useFactory: (limit: string) => ({
        rules: { default: limit, user: { 'vip-1': { api: { '/login': 'fixd-window,2,10' } } } },
      }),
    });`,
    FAULT,
  ],
  'in what an async factory answers': [
    `RateLimitModule.forRootAsync({
      useFactory: async () => ({ rules: { default: 'fixd-window,2,10' } }),
    });`,
    FAULT,
  ],
};

/** What the checked signatures must go on refusing, as if they were plain ones. */
const stillRefused: typeof refused = {
  'an unknown option of the module': [
    `RateLimitModule.forRoot({ headers: 'ietf', usr: () => 'a' });`,
    '✗ unknown option "usr"',
  ],
  'nothing but an unknown option of the module': [
    `RateLimitModule.forRoot({ usr: () => 'a' });`,
    `'usr' does not exist in type`,
  ],
  'an unknown option of the book': [
    `RateLimitModule.forRoot({ rules: { defalt: 'token-bucket,5,10', mode: 'shadow' } });`,
    '✗ unknown option "defalt"',
  ],
  'nothing but an unknown option of the book': [
    `RateLimitModule.forRoot({ rules: { defalt: 'token-bucket,5,10' } });`,
    `'defalt' does not exist in type`,
  ],
  'an unknown option in what a factory answers': [
    `RateLimitModule.forRootAsync({ useFactory: () => ({ headers: 'ietf', usr: 5 }) });`,
    '✗ unknown option "usr"',
  ],
  'a wrong value of an option': [
    `RateLimitModule.forRoot({ headers: 'x' });`,
    `Type '"x"' is not assignable to type`,
  ],
  'a number as a rule': ['RateLimit(5);', `Argument of type 'number' is not assignable`],
  'a cost that is none': [
    `RateLimit('fixed-window,2,10', { cost: () => 'five' });`,
    'is not assignable to type',
  ],
  "a wrong use of a cost's context": [
    `RateLimit('fixed-window,2,10', { cost: (ctx) => ctx.tokens });`,
    `Property 'tokens' does not exist on type 'ExecutionContext'`,
  ],
  'an object without a limit': [
    `RateLimit({ window: '1m' });`,
    `Argument of type '{ window: string; }' is not assignable`,
  ],
  'an id that is no id': [
    `RateLimitModule.forRoot({ user: (req) => [req.user] });`,
    `Type 'any[]' is not assignable to type 'MaybePromise<UserId>'`,
  ],
  "a wrong use of a function's context": [
    'RateLimitModule.forRoot({ skip: (ctx) => ctx.handler });',
    `Property 'handler' does not exist on type`,
  ],
  "a wrong use of an address's context": [
    'RateLimitModule.forRoot({ address: (ctx) => ctx.address });',
    `Property 'address' does not exist on type 'ExecutionContext'`,
  ],
};

/** Ordinary use, which the check must not be in the way of. */
const allowed: Readonly<Record<string, string>> = {
  'no rule': 'RateLimit(); RateLimitModule.forRoot({});',
  'text of any kind': `
    declare const text: string;
    RateLimit(text);
    RateLimitModule.forRoot({ always: text, rules: { default: text, api: { '/a': [text] } } });
    Policy.parse(text);`,
  'text from the environment': `
    RateLimit(process.env['LIMIT'] ?? 'token-bucket,5,10');
    RateLimitModule.forRoot({
      always: process.env['ALWAYS'] ?? '',
      rules: { default: process.env['LIMIT'] ?? 'token-bucket,5,10' },
    });`,
  'a pattern': `
    declare const limit: number;
    declare const name: string;
    const rule = \`token-bucket,\${limit},10\` as const;
    RateLimit(rule, \`\${name},5\` as const);
    RateLimitModule.forRoot({ rules: { default: rule } });`,
  'an object': `
    RateLimit({ algorithm: 'token-bucket', limit: 100, window: '1m', burst: 200, by: 'tenant' });
    RateLimit({ limit: '5', window: 10, by: ['user', 'api'] }, 'search');
    RateLimitModule.forRoot({
      always: { algorithm: 'fixed-window', limit: 100, window: '1m', by: 'ip' },
      rules: {
        default: { limit: 5, window: 10 },
        user: { 'vip-1': { algorithm: 'token-bucket', limit: 5, window: '10s', name: 'vip' } },
        always: { limit: 100, window: '1m', by: 'ip' },
      },
    });`,
  'a cost': `
    RateLimit('fixed-window,2,10', { cost: 5 });
    RateLimit('search', { cost: async (ctx) => ctx.getArgs().length });
    RateLimit({ limit: 5, window: 10 }, 'search', { settle: (_ctx, answer) => answer.tokens });`,
  'names that look like fields': `
    RateLimitModule.forRoot({
      rules: {
        always: { limit: 'token-bucket,300,1m,by=ip', default: ['search', { limit: 5 }] },
        user: { default: 'token-bucket,5,10', api: { default: 'search' } },
        api: { always: 'search & token-bucket,5,10', rules: { limit: 5 } },
      },
    });`,
  'a whole book': `
    RateLimitModule.forRoot({
      user: (req, ctx) => req.user?.id ?? ctx.getHandler().name.toUpperCase(),
      address: (ctx) => ctx.switchToHttp().getRequest().socket.remoteAddress,
      normalizeId: (id) => id.toLowerCase(),
      skip: async (ctx) => ctx.getHandler().name.startsWith('health'),
      headers: ['ietf', ({ limit }) => ({ 'X-Limit': limit.toFixed(0) })],
      ipv6Prefix: 64,
      always: ['token-bucket,300,1m,by=ip', { limit: 1000, window: '1d', by: 'global' }],
      rules: {
        default: 'token-bucket,5,10',
        api: { '/login': 'fixed-window,2,10', 'POST /search': ['search', 'token-bucket,1,1'] },
        user: { 'vip-1': { default: 'token-bucket,8,10', api: { '/login': 'fixed-window,4,10' } } },
        tier: { pro: 'token-bucket,50,10,final=true' },
        policy: { search: 'sliding-window,3,10 & token-bucket,100,1h' },
        always: { flood: 'token-bucket,300,1m,by=ip' },
        mode: 'shadow',
      },
    });`,
  'a book as properties text': `
    RateLimitModule.forRoot({ rules: 'default = token-bucket,5,10\\napi./login = fixd,0,0' });`,
  'options declared beforehand': `
    const options: RateLimitOptions = { rules: { default: 'token-bucket,5,10' } };
    RateLimitModule.forRoot(options);
    RateLimitModule.forRoot({ ...options, headers: 'legacy' });`,
  'options of any type': `
    RateLimitModule.forRoot(JSON.parse('{}'));
    RateLimitModule.forRoot(JSON.parse('{}') as Record<string, any>);
    RateLimitModule.forRoot({ rules: JSON.parse('{}'), always: JSON.parse('[]') });`,
  'an entry that may be left out': `
    declare const on: boolean;
    RateLimitModule.forRoot({
      always: on ? 'token-bucket,300,1m' : undefined,
      rules: on ? { default: 'token-bucket,5,10', api: undefined } : undefined,
    });`,
  'a list of rules by spread': `
    declare const rules: readonly string[];
    RateLimit(...rules);
    RateLimit('token-bucket,5,10', ...rules);`,
  factories: `
    RateLimitModule.forRootAsync({
      inject: [String],
      useFactory: (limit: string) => ({
        user: (req) => req.user?.id,
        skip: (ctx) => ctx.getHandler().name === limit,
        rules: { default: 'token-bucket,5,10', api: { '/a': limit } },
      }),
    });
    RateLimitModule.forRootAsync({
      useFactory: async () => ({ skip: (ctx) => ctx.getHandler().name === '', always: 'search' }),
    });
    RateLimitModule.forRootAsync({ useFactory: (): RateLimitOptions => ({}) });`,
};

describe('the checked signatures', () => {
  const refusals = Object.entries({ ...refused, ...stillRefused });
  const [refusedSaid = [], allowedSaid = []] = compileGroups([
    refusals.map(([, [snippet]]) => snippet),
    Object.values(allowed),
  ]);
  const saidOf = new Map(refusals.map(([name], i) => [name, refusedSaid[i]]));

  it.each(Object.entries(refused))('refuse a wrong literal %s', (name, [, part]) => {
    expect(saidOf.get(name)).toContain(part);
  });

  it.each(Object.entries(stillRefused))('refuse %s', (name, [, part]) => {
    expect(saidOf.get(name)).toContain(part);
  });

  it.each(Object.keys(allowed).map((name, i) => [name, allowedSaid[i]]))(
    'allow %s',
    (_name, said) => {
      expect(said).toBe('');
    },
  );
});
