import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { isPromise } from '../core/maybe-promise.js';
import type { HttpTransport } from './http.transport.js';

/** Decides by user, once all guards have passed: see doors.ts. */
export class SecondDoorInterceptor implements NestInterceptor {
  constructor(private readonly http: HttpTransport) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const admitted = context.getType() === 'http' ? this.http.admitKnown(context) : true;
    return isPromise(admitted) ? admitted.then(() => next.handle()) : next.handle();
  }
}
