import { Body, Controller, Post } from '@nestjs/common';
import { RateLimit } from 'nestjs-doorman';

interface Answer {
  readonly text: string;
  readonly tokens: number;
}

interface Question {
  readonly prompt?: string;
}

@Controller('assistant')
export class AssistantController {
  /** A thousand tokens a minute: estimated by the question, settled by the answer. */
  @RateLimit('sliding-window-counter,1000,1m,by=user,name=tokens', {
    cost: (ctx) => 100 + (ctx.switchToHttp().getRequest().body?.prompt ?? '').length,
    settle: (_ctx, answer: Answer) => answer.tokens,
  })
  @Post()
  ask(@Body() { prompt = '' }: Question = {}): Answer {
    // Stands in for a language model.
    return { text: prompt.toUpperCase(), tokens: 2 * prompt.length };
  }
}
