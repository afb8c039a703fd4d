import { type Observable, Subject } from 'rxjs';
import type { Decision } from '../core/index.js';

/** One decision, as those who watch see it. */
export interface DecisionEvent {
  readonly decision: Decision;
  /** The id of the user; undefined for one who is known by address alone. */
  readonly userId: string | undefined;
  readonly address: string | undefined;
  /** The template or name that was asked for. */
  readonly api: string;
  readonly cost: number;
}

/** Tells decisions to whoever listens; costs nothing while nobody does. */
export class DecisionEvents {
  private readonly subject = new Subject<DecisionEvent>();
  readonly stream: Observable<DecisionEvent> = this.subject.asObservable();

  get observed(): boolean {
    return this.subject.observed;
  }

  emit(event: DecisionEvent): void {
    this.subject.next(event);
  }

  close(): void {
    this.subject.complete();
  }
}
