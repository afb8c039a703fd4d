// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of the code, not a template
/*
 * Faults that rate limiters have had, each seeded into this one. An edit replaces one piece of text,
 * which stands in its file exactly once; `tests` are the files that have to find it.
 */

/**
 * @typedef {object} Edit
 * @property {string} file
 * @property {string} find
 * @property {string} replace
 *
 * @typedef {object} Fault
 * @property {string} name
 * @property {string} kind what of it was seen elsewhere
 * @property {Edit[]} edits
 * @property {string[]} tests
 */

/** @type {(file: string, find: string, replace: string) => Edit} */
const edit = (file, find, replace) => ({ file, find, replace });

const BUCKET = 'src/core/algorithms/token-bucket.ts';
const FIXED = 'src/core/algorithms/fixed-window.ts';
const COUNTER = 'src/core/algorithms/sliding-window-counter.ts';
const STEP_FOR_STEP = 'test/laws/step-for-step.spec.ts';
const HINTS = 'test/laws/hints.spec.ts';

/** @type {Fault[]} */
export const FAULTS = [
  // What is spent
  {
    name: 'joined rules forget to ask all before they take',
    kind: 'a refused request spends what the other rules had',
    edits: [
      edit('src/stores/memory/counters.ts', 'i < counters.length && taking; i++', 'i < 0; i++'),
    ],
    tests: [STEP_FOR_STEP],
  },
  {
    name: 'a bucket takes from those it refuses',
    kind: 'refused requests spend',
    edits: [edit(BUCKET, 'if (over <= 0 && take) {', 'if (take) {')],
    tests: [STEP_FOR_STEP],
  },
  {
    name: 'a window adds first and compares after',
    kind: 'the cost of a refused request stays, so a smaller one that fits is refused',
    edits: [edit(FIXED, 'if (take && wait === 0) {', 'if (take) {')],
    tests: [STEP_FOR_STEP],
  },
  {
    name: 'a window looks at the count before the cost is added',
    kind: 'a cost above 1 overshoots',
    edits: [
      edit(
        COUNTER,
        'const room = this.capacity - current - cost;',
        'const room = this.capacity - current - 1;',
      ),
    ],
    tests: [STEP_FOR_STEP],
  },
  {
    name: 'the weighed part of a window is rounded down',
    kind: 'more is told to be left than is',
    edits: [
      edit(
        COUNTER,
        'ceilDiv(previous * left, this.fillMillis)',
        'Math.floor((previous * left) / this.fillMillis)',
      ),
    ],
    tests: [STEP_FOR_STEP],
  },
  {
    name: 'the guard counts each time it runs',
    kind: 'a guard that is bound twice counts twice',
    edits: [
      edit(
        'src/nest/admission.ts',
        'if (earlier?.plan === plan) return admittedBefore(earlier);',
        '',
      ),
    ],
    tests: ['test/e2e/guard.e2e-spec.ts'],
  },
  // Blocks
  {
    name: 'a block tells how long it lasts, and forgets what the rule says',
    kind: 'a block shorter than the window replaces the window',
    edits: [
      edit(
        'src/core/decision.ts',
        'const retryAfterMillis = Math.max(leftMillis, decision.retryAfterMillis);',
        'const retryAfterMillis = leftMillis;',
      ),
    ],
    tests: ['test/stores/contract.spec.ts'],
  },
  {
    name: 'a block makes its counter as good as new',
    kind: 'after a short block the whole limit is there again',
    edits: [
      edit(
        'src/stores/memory/memory.store.ts',
        'for (const counter of counters) this.blocks.set(counter, untilMillis, nowMillis);',
        'for (const counter of counters) {\n      this.blocks.set(counter, untilMillis, nowMillis);\n      this.counters.reset(counter);\n    }',
      ),
    ],
    tests: ['test/stores/contract.spec.ts'],
  },
  // Options that are believed to be at work
  {
    name: 'skip takes a promise for a yes',
    kind: 'an asynchronous skip turns limiting off',
    edits: [
      edit(
        'src/nest/rate-limit.guard.ts',
        'return andThen(skipped, (yes) => yes === true || admission.admit(call));',
        'return skipped ? true : admission.admit(call);',
      ),
    ],
    tests: [
      'test/e2e/never-unlimited.e2e-spec.ts',
      'test/e2e/guard.e2e-spec.ts',
      'test/e2e/module.e2e-spec.ts',
    ],
  },
  {
    name: 'a name that no policy has is left out',
    kind: 'a mistyped policy in a decorator limits nothing',
    edits: [
      edit(
        'src/nest/decorated-limits.ts',
        'else unknownPolicy(source, place, book.policyNames, faults);',
        '',
      ),
    ],
    tests: ['test/e2e/module.e2e-spec.ts'],
  },
  {
    name: '@SkipRateLimit leaves the rules of the book in force',
    kind: 'skipping does not skip named limits',
    edits: [
      edit(
        'src/nest/decorated-limits.ts',
        "if (nearest.skip) return 'skip';",
        'if (nearest.skip) return undefined;',
      ),
    ],
    tests: ['test/e2e/guard.e2e-spec.ts'],
  },
  // Timers
  {
    name: 'a sleep is one timer, however long',
    kind: 'a timeout above 2^31 - 1 ms fires at once',
    edits: [
      edit(
        'src/core/clock.ts',
        'await timer(Math.min(left, LONGEST_TIMER_MILLIS), signal, background);',
        'await timer(left, signal, background);',
      ),
    ],
    tests: ['test/core/clock.spec.ts'],
  },
  {
    name: 'a sleep in the background keeps the process alive',
    kind: 'open handles',
    edits: [edit('src/core/clock.ts', 'if (background) handle.unref?.();', '')],
    tests: ['test/core/clock.spec.ts'],
  },
  // Redis
  {
    name: 'a counter in Redis is written without an end',
    kind: 'a key never expires',
    edits: [
      edit(
        'src/stores/redis/scripts/token-bucket-single.lua',
        "call('SET', KEYS[i], now + whole, 'PX', whole + longer)",
        "call('SET', KEYS[i], now + whole)",
      ),
      edit(
        'src/stores/redis/scripts/fixed-window-single.lua',
        "call('SET', KEYS[i], this * 1000000 + count, 'PX', left + longer)",
        "call('SET', KEYS[i], this * 1000000 + count)",
      ),
    ],
    tests: ['test/stores/redis/expiry.spec.ts'],
  },
  {
    name: 'the life of a counter in Redis is whole seconds, rounded down',
    kind: 'what lives for less than a second is gone at once, or never',
    edits: [
      edit(
        'src/stores/redis/scripts/prelude.lua',
        'return text(injected and millis + 3600000 or millis)',
        'return text(max(1, floor(millis / 1000) * 1000))',
      ),
    ],
    tests: ['test/stores/redis/expiry.spec.ts', 'test/stores/redis/step-for-step.spec.ts'],
  },
  {
    name: 'a question to Redis has no deadline',
    kind: 'a request hangs until Redis is back',
    edits: [
      edit(
        'src/stores/redis/lane.ts',
        '  async run(): Promise<readonly Request[]> {\n    this.watch();',
        '  async run(): Promise<readonly Request[]> {',
      ),
    ],
    tests: ['test/stores/redis/faults/deadline.spec.ts'],
  },
  {
    name: 'a failure of the store is answered as a refusal',
    kind: 'store errors shown as 429',
    edits: [
      edit(
        'src/nest/exceptions.ts',
        "decision.reason === 'store'\n      ? new RateLimitUnavailableException(decision, body)",
        'Boolean(0)\n      ? new RateLimitUnavailableException(decision, body)',
      ),
    ],
    tests: ['test/e2e/store-failure.e2e-spec.ts'],
  },
  {
    name: 'a refusal of the store is taken for a failure of it',
    kind: 'a fallback that is asked on an ordinary refusal lets in',
    edits: [
      edit(
        'src/nest/store-fallback.ts',
        'if (!outcome?.decision)',
        'if (!outcome?.decision.allowed)',
      ),
    ],
    tests: ['test/e2e/store-failure.e2e-spec.ts', 'test/e2e/http.e2e-spec.ts'],
  },
  // Rounding
  {
    name: 'seconds are rounded down',
    kind: 'who waits as long as told is refused again',
    edits: [edit('src/http/seconds.ts', 'Math.ceil(millis / 1000)', 'Math.floor(millis / 1000)')],
    tests: ['test/http/retry-after.spec.ts'],
  },
  {
    name: 'the wait of a bucket is rounded down',
    kind: 'who waits as long as told is refused again',
    edits: [
      edit(
        BUCKET,
        'return over > 0 ? ceilDiv(over, unitsPerMilli) : 0;',
        'return over > 0 ? Math.max(1, floorDiv(over, unitsPerMilli)) : 0;',
      ),
    ],
    tests: [HINTS, STEP_FOR_STEP],
  },
  {
    name: 'what a bucket earned in a part of a millisecond is lost',
    kind: 'a refill that is rounded loses a third of the rate',
    edits: [
      edit(
        BUCKET,
        'cells[at + REST] = part > 0 ? (unitsPerMilli - part) / unitsPerMilli : 0;',
        'cells[at + REST] = 0;',
      ),
    ],
    tests: [STEP_FOR_STEP],
  },
  // Time
  {
    name: 'a step back of the clock is believed',
    kind: 'an older time credits again, or blocks for as long as the step',
    edits: [edit('src/core/steady-clock.ts', 'this.offset += this.last - read;', '')],
    tests: ['test/laws/clock.spec.ts'],
  },
  {
    name: 'a count ahead of the clock of Redis is as good as none',
    kind: 'after a step back the whole limit is there again',
    edits: [
      edit(
        'src/stores/redis/scripts/fixed-window-single.lua',
        'if box < this then count = 0 end',
        'if box ~= this then count = 0 end',
      ),
    ],
    tests: ['test/stores/redis/faults/clock.spec.ts'],
  },
  // Keys
  {
    name: 'parts of a key are joined by a sign that may stand in them',
    kind: 'a_b with c is a with b_c',
    edits: [
      edit(
        'src/core/identity.ts',
        'for (const part of parts) text += `${part.length}:${part}`;',
        'for (const part of parts) text += `${part}_`;',
      ),
    ],
    tests: ['test/core/identity.spec.ts', 'test/laws/keys.spec.ts'],
  },
  {
    name: 'the hash joins texts without their lengths',
    kind: 'a_b with c is a with b_c',
    edits: [edit('src/core/keyed-hash.ts', 'let m = n << 1; // after the last unit', 'let m = 0;')],
    tests: ['test/laws/keys.spec.ts', 'test/stores/memory.store.spec.ts'],
  },
  {
    name: 'IPv4 in IPv6 is cut as IPv6 is',
    kind: 'all clients of IPv4 share one counter (CVE-2026-30827)',
    edits: [
      edit(
        'src/http/address.ts',
        "if (text.startsWith('::ffff:') && isQuad(text, 7)) return text.slice(7);",
        '',
      ),
      edit(
        'src/http/address.ts',
        'if (isMapped(groups)) {\n    const [high',
        'if (groups.length === 0) {\n    const [high',
      ),
    ],
    tests: ['test/http/address.spec.ts'],
  },
  {
    name: 'an address counts as it is written',
    kind: 'each notation of one address is a new counter',
    edits: [
      edit(
        'src/http/address.ts',
        'return groups === undefined ? trimmed : print(groups, ipv6Prefix);',
        'return trimmed;',
      ),
    ],
    tests: ['test/http/address.spec.ts'],
  },
  {
    name: 'an address is no other thing than an id of the same text',
    kind: 'a user named as an address counts with it',
    edits: [
      edit(
        'src/core/identity.ts',
        'return first === 64 /* @ */ || first === 61 /* = */ ? `=${value}` : value;',
        'return first === 0 ? `=${value}` : value;',
      ),
    ],
    tests: ['test/core/identity.spec.ts', 'test/laws/keys.spec.ts'],
  },
  {
    name: 'what is asked for is the path of the request',
    kind: 'each value in a path, and each spelling of one, is a new counter',
    edits: [
      edit(
        'src/nest/transports/http.ts',
        'return this.platform.template(this.request);',
        'return this.request.url;',
      ),
    ],
    tests: ['test/e2e/http.e2e-spec.ts', 'test/e2e/guard.e2e-spec.ts'],
  },
  {
    name: 'dimensions are read with what every object inherits',
    kind: '__proto__ and constructor in a plain object',
    edits: [
      edit(
        'src/core/identity.ts',
        'return values && Object.hasOwn(values, name) ? values[name] : undefined;',
        'return values?.[name];',
      ),
    ],
    tests: ['test/core/identity.spec.ts', 'test/laws/keys.spec.ts'],
  },
  {
    name: 'a handler is known by the names of its class and method',
    kind: 'controllers of one name in two modules share counters',
    edits: [
      edit(
        'src/nest/decorated-limits.ts',
        'return `${moduleName}/${className}.${methodName}`;',
        'return `${moduleName.slice(0, 0)}/${className}.${methodName}`;',
      ),
    ],
    tests: ['test/e2e/guard.e2e-spec.ts', 'test/e2e/module.e2e-spec.ts'],
  },
  {
    name: 'HEAD is a method of its own',
    kind: 'asking for the headers alone is a way around a limit',
    edits: [
      edit('src/core/api-name.ts', "return upper === 'HEAD' ? 'GET' : upper;", 'return upper;'),
    ],
    tests: ['test/core/rule-book.spec.ts', 'test/e2e/http.e2e-spec.ts'],
  },
  // Headers and answers
  {
    name: 'Retry-After tells milliseconds',
    kind: 'clients wait a thousand times too long',
    edits: [
      edit(
        'src/http/retry-after.ts',
        'String(Math.max(1, secondsUp(retryAfterMillis)))',
        'String(Math.max(1, retryAfterMillis))',
      ),
    ],
    tests: ['test/http/retry-after.spec.ts'],
  },
  {
    name: 'Retry-After may be 0',
    kind: 'clients come back at once',
    edits: [
      edit(
        'src/http/retry-after.ts',
        'String(Math.max(1, secondsUp(retryAfterMillis)))',
        'String(secondsUp(retryAfterMillis - 1))',
      ),
    ],
    tests: ['test/http/retry-after.spec.ts'],
  },
  {
    name: 'a refusal has no Retry-After',
    kind: 'clients do not know when to come back',
    edits: [
      edit(
        'src/nest/http-answer.ts',
        "if (seconds !== undefined) platform.setHeader(response, 'Retry-After', seconds);",
        'if (seconds === undefined) return true;',
      ),
    ],
    tests: ['test/e2e/http.e2e-spec.ts'],
  },
  {
    name: 'a refusal is an error of any kind',
    kind: 'refused with a 500',
    edits: [edit('src/nest/exceptions.ts', 'super(body, 429);', 'super(body, 500);')],
    tests: ['test/e2e/http.e2e-spec.ts'],
  },
  // Floods
  {
    name: 'any counter gives way to any other',
    kind: 'a flood of keys resets the counter of who is at the limit',
    edits: [
      edit(
        'src/stores/memory/counter-table.ts',
        'else if ((tags[tag]! & MARK) !== 0) continue;',
        '',
      ),
    ],
    tests: ['test/stores/memory-bounds.spec.ts', 'test/stores/memory.store.spec.ts'],
  },
  // Other transports
  {
    name: 'all that an operation calls is one attempt',
    kind: 'aliases make one request many attempts, counted once',
    edits: [
      edit(
        'src/nest/transports/graphql.ts',
        "if (this.per === 'resolver') return",
        "if (this.per !== 'resolver') return",
      ),
    ],
    tests: ['test/e2e/transports/core.e2e-spec.ts'],
  },
  {
    name: 'every context is taken for one of HTTP',
    kind: 'contexts without a response crash',
    edits: [
      edit(
        'src/nest/transports/index.ts',
        "case 'rpc':\n        return new MessageCall(context, this.events);",
        "case 'rpc':\n        return new HttpCall(context, this.http);",
      ),
    ],
    tests: ['test/e2e/transports/core.e2e-spec.ts'],
  },
  // At once
  {
    name: 'the store is asked first and takes later',
    kind: 'parallel requests slip through between check and count',
    edits: [
      edit(
        'src/core/limiter.ts',
        'if (single) return single.decideKey(this.plans[0]!, key, cost, mode, now) as Answer;',
        "if (single) {\n      const seen = single.decideKey(this.plans[0]!, key, cost, 'peek', now);\n      if (mode === 'take' && seen.allowed) queueMicrotask(() => single.decideKey(this.plans[0]!, key, cost, mode, now));\n      return seen as Answer;\n    }",
      ),
    ],
    tests: [STEP_FOR_STEP],
  },
];
