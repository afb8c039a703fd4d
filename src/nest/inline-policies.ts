import { type CounterPlan, type PlacedPolicy, planCounters } from '../core/counter-plan.js';
import { Faults } from '../core/fault.js';
import { Policy, type PolicySource, type RuleBook } from '../core/index.js';
import { readPolicy } from '../core/policy.js';
import { NamedRules } from '../core/policy-names.js';
import { checkAvailable, type Surroundings } from '../core/rule-availability.js';
import { isPolicyName, unknownPolicy } from '../core/rule-book-reader.js';

/** Texts that are remembered; more at once would be texts made up as they go. */
const MAX_TEXTS = 1000;

/** Policies that are handed to a call of the service, at the place `inline`. */
export class InlinePolicies {
  private readonly texts = new Map<string, readonly CounterPlan[]>();
  private readonly objects = new WeakMap<object, readonly CounterPlan[]>();
  private names: NamedRules | undefined;

  constructor(
    private readonly book: RuleBook,
    /** The policies of decorators, whose names are taken too. */
    private readonly decorated: () => readonly PlacedPolicy[],
    private readonly surroundings: Surroundings,
  ) {}

  /**
   * The plans of what was handed in: text, an object, a Rule, a Policy, or a policy's name.
   *
   * @throws RateLimitConfigError when it is faulty
   */
  plansOf(source: PolicySource): readonly CounterPlan[] {
    const isText = typeof source === 'string';
    let plans = isText ? this.texts.get(source) : this.objects.get(source);
    if (plans) return plans;
    plans = this.read(source);
    if (this.texts.size >= MAX_TEXTS) this.texts.clear();
    if (isText) this.texts.set(source, plans);
    else this.objects.set(source, plans);
    return plans;
  }

  private read(source: PolicySource): readonly CounterPlan[] {
    const faults = new Faults();
    if (typeof source === 'string' && isPolicyName(source)) {
      const found = this.book.policy(source.trim());
      if (found) return planCounters(found);
      unknownPolicy(source, 'a call', this.book.policyNames, faults);
    }
    const policy = source instanceof Policy ? source : readPolicy(source, 'a call', faults);
    faults.throwIfAny();
    const placed = { policy: policy!, place: 'inline', label: 'inline' };
    checkAvailable(placed.policy, 'a call', this.surroundings, faults);
    this.names ??= this.knownNames();
    this.names.check(placed, faults);
    faults.throwIfAny();
    this.names.add(placed);
    return planCounters(placed);
  }

  private knownNames(): NamedRules {
    const names = new NamedRules();
    for (const placed of [...this.book.entries, ...this.decorated()]) {
      names.add(placed);
    }
    return names;
  }
}
