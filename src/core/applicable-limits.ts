import { type ApiName, formatApiName } from './api-name.js';
import { type CounterPlan, type PlacedPolicy, planCounters } from './counter-plan.js';
import type { RuleBook } from './rule-book.js';
import { apiKeys } from './small-book.js';
import type { Tier } from './tier-rules.js';

/** What decorators say of a handler: policies, that nothing applies but what is final, or nothing. */
export type DecoratedLimits = readonly PlacedPolicy[] | 'skip' | undefined;

/**
 * Of what is limited only where something is meant for it, and nothing decorates it: `named`, by
 * entries of its name alone; `unlimited`, where the book has none.
 */
export type MeantLimits = 'named' | 'unlimited';

const NONE: readonly CounterPlan[] = [];

/** A book has its entries for good, but rules that answers bring along come and go. */
const MAX_WINNERS = 10_000;

/**
 * Which limits apply to one api, worked out once for each entry of the book that may win: what
 * decorates the handler, else the user's, the tier's, the api's entry, else the default; but
 * first of all an entry with `final=true`. What always joins, joins.
 */
export class ApplicableLimits {
  private readonly keys: readonly string[];
  private readonly byWinner = new Map<PlacedPolicy | undefined, readonly CounterPlan[]>();
  /** Whether users or tiers may have rules of their own. */
  readonly personal: boolean;
  /** The answer for everybody, when nothing tells users apart. */
  private readonly common: readonly CounterPlan[] | undefined;

  /** @param tiersAsked whether users have tiers that the book need not know */
  constructor(
    private readonly book: RuleBook,
    private readonly decorated: DecoratedLimits | MeantLimits,
    readonly api: ApiName,
    tiersAsked = false,
  ) {
    this.keys = apiKeys(formatApiName(api));
    this.personal = decorated !== 'unlimited' && (book.personal || tiersAsked);
    this.common = this.personal ? undefined : this.lookUp(undefined);
  }

  /** Whether nobody at all is limited here. */
  get none(): boolean {
    return this.common?.length === 0;
  }

  /** The rules for this user; none: not limited. */
  plansFor(userId: string | undefined, tier?: Tier): readonly CounterPlan[] {
    return this.common ?? this.lookUp(userId, tier);
  }

  private lookUp(userId: string | undefined, tier?: Tier): readonly CounterPlan[] {
    const { book, keys, decorated } = this;
    const winner =
      decorated === 'named'
        ? book.namedWinner(userId, keys, tier)
        : book.winner(userId, keys, tier);
    let plans = this.byWinner.get(winner);
    if (!plans) {
      plans = this.plans(winner);
      if (this.byWinner.size >= MAX_WINNERS) this.byWinner.clear();
      this.byWinner.set(winner, plans);
    }
    return plans;
  }

  private plans(winner: PlacedPolicy | undefined): readonly CounterPlan[] {
    const { decorated, book } = this;
    if (decorated === 'unlimited' || (decorated === 'named' && !winner)) return NONE;
    if (decorated === 'skip' && !winner?.policy.final) return NONE;
    const isOfBook = typeof decorated === 'string' || winner?.policy.final;
    const winners = isOfBook ? [winner] : (decorated ?? [winner]);
    const chosen = winners.filter((placed) => placed !== undefined);
    return unique([...chosen, ...book.always].flatMap((placed) => planCounters(placed)));
  }
}

/** Each counter once: places that share a name would else spend twice. */
export function unique(plans: readonly CounterPlan[]): readonly CounterPlan[] {
  const seen = new Set<string>();
  return plans.filter(({ id }) => !seen.has(id) && seen.add(id));
}
