import fc from 'fast-check';
import type { RuleNumbers } from '../model/model.js';
import { ModelPolicy } from '../model/model.js';
import type { Door, Step } from './support.js';
import {
  ALGORITHMS,
  FAR_ENDS,
  holds,
  joinedRules,
  keyed,
  lineOf,
  play,
  rulesOf,
  single,
  starts,
  steps,
  textOf,
} from './support.js';

/** The product and the model play the same script; the traces are compared as text. */
function expectTheModelsAnswers(
  doors: readonly Door[],
  rules: readonly RuleNumbers[],
  start: number,
  script: readonly Step[],
): void {
  const model = new ModelPolicy(rules);
  const subjects = doors.map((door) => ({ ...door(textOf(rules), start), trace: [] as string[] }));
  const trace: string[] = [];
  play(rules, start, script, (now, cost) => {
    for (const { clock, peek, tryAcquire, trace } of subjects) {
      clock.set(now);
      trace.push(`at ${now} peek ${cost} → ${lineOf(peek(cost))}`);
      trace.push(`at ${now} take ${cost} → ${lineOf(tryAcquire(cost))}`);
    }
    trace.push(`at ${now} peek ${cost} → ${lineOf(model.peek(now, cost))}`);
    const answer = model.tryAcquire(now, cost);
    trace.push(`at ${now} take ${cost} → ${lineOf(answer)}`);
    return answer;
  });
  for (const subject of subjects) expect(subject.trace).toEqual(trace);
}

describe('step for step', () => {
  it.each(ALGORITHMS)('%s answers as the big integer model does', (algorithm) => {
    holds(
      800,
      fc.property(rulesOf(algorithm), starts, steps, (rule, start, script) => {
        expectTheModelsAnswers([single, keyed], [rule], start, script);
      }),
    );
  });

  it('joined rules spend all or none and combine their numbers as the model does', () => {
    holds(
      800,
      fc.property(joinedRules, starts, steps, (rules, start, script) => {
        expectTheModelsAnswers([single, keyed], rules, start, script);
      }),
    );
  });

  it.each(FAR_ENDS)('holds at the far ends: $limit per $windowMillis ms, $algorithm', (rule) => {
    holds(
      40,
      fc.property(starts, steps, (start, script) => {
        expectTheModelsAnswers([single, keyed], [rule], start, script);
      }),
    );
  });
});
