import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { type Observable, tap } from 'rxjs';
import { isPromise } from '../core/maybe-promise.js';
import { Admission } from './admission.js';
import { type Call, Transports } from './transports/index.js';

/**
 * Decides by user, once all guards have passed: see doors.ts. On transports other than HTTP it also
 * sees how a call ends, for rules that count failures or successes.
 */
@Injectable()
export class SecondDoorInterceptor implements NestInterceptor {
  constructor(
    @Inject(Transports) private readonly transports: Transports,
    @Inject(Admission) private readonly admission: Admission,
  ) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const call = this.transports.callOf(context);
    if (!call) return next.handle();
    const admitted = this.admission.admitKnown(call);
    if (isPromise(admitted)) return admitted.then(() => this.handle(call, next));
    return this.handle(call, next);
  }

  private handle(call: Call, next: CallHandler): Observable<unknown> {
    const open = this.admission.open(call);
    if (!open) return next.handle();
    const [error, complete] = [() => open.ended(true), () => open.ended(false)];
    return next.handle().pipe(tap({ error, complete }));
  }
}
