import type { ExecutionContext } from '@nestjs/common';
import type { Decision } from '../../src/core/decision.js';
import type { RateLimitExceededException } from '../../src/nest/exceptions.js';
import { HttpAnswer } from '../../src/nest/http-answer.js';
import { type HttpResponse, platformOf } from '../../src/nest/http-platform.js';
import { Warnings } from '../../src/nest/warnings.js';
import { decision } from '../http/decisions.js';

const refused: Decision = {
  ...decision({ allowed: false, remaining: 0, retryAfterMillis: 2000 }),
  reason: 'quota',
};

/** Node's response, as far as an answer needs it. */
class Headers {
  private readonly values = new Map<string, string>();
  getHeader = (name: string) => this.values.get(name.toLowerCase());
  setHeader = (name: string, value: string) => this.values.set(name.toLowerCase(), value);
}

describe('the answer over HTTP', () => {
  it('hands the execution context to the function that makes the body', () => {
    const context = { getClass: () => Headers } as unknown as ExecutionContext;
    const refusal = (one: Decision, ctx: ExecutionContext) => ({
      after: one.retryAfterMillis,
      of: ctx.getClass().name,
    });
    const answer = new HttpAnswer(
      { headers: ['ietf'], refusal, exposeHeaders: false },
      new Warnings(),
    );
    const response: HttpResponse = new Headers();
    let thrown: unknown;
    try {
      answer.tell(refused, platformOf(response), response, context);
    } catch (error) {
      thrown = error;
    }
    expect((thrown as RateLimitExceededException).getResponse()).toEqual({
      after: 2000,
      of: 'Headers',
    });
    expect(response.getHeader('Retry-After')).toBe('2');
  });
});
