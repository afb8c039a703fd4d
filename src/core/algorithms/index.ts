import type { AlgorithmName } from '../rule-fields.js';
import type { Algorithm, AlgorithmKind, RuleNumbers } from './algorithm.js';
import { fixedWindow } from './fixed-window.js';
import { slidingWindow } from './sliding-window.js';
import { slidingWindowCounter } from './sliding-window-counter.js';
import { tokenBucket } from './token-bucket.js';

/** The one place that knows them all: a new algorithm is a file beside this one and a line here. */
const KINDS: readonly AlgorithmKind[] = [
  tokenBucket,
  fixedWindow,
  slidingWindow,
  slidingWindowCounter,
];

const BY_NAME: ReadonlyMap<string, AlgorithmKind> = new Map(
  KINDS.flatMap((kind) => [kind.name, ...kind.aliases].map((name) => [name, kind] as const)),
);

/** What a rule without one gets, and what the docs recommend for most. */
export const DEFAULT_ALGORITHM: AlgorithmName = tokenBucket.name;

/** The names that rule text accepts, aliases left out. */
export const ALGORITHM_NAMES: readonly AlgorithmName[] = KINDS.map((kind) => kind.name);

/** The kind of that name or alias. */
export function algorithmKind(name: string): AlgorithmKind | undefined {
  return BY_NAME.get(name);
}

/** The arithmetic of a rule. */
export function createAlgorithm(name: AlgorithmName, rule: RuleNumbers): Algorithm {
  return BY_NAME.get(name)!.create(rule);
}

export type { Algorithm, Cells, RuleNumbers, View } from './algorithm.js';
