/*
 * Joined counters that no call can meet together: they are in several slots of a cluster, or on their
 * way between two nodes. They are asked one after another, in the fixed order of their keys, so that
 * two who ask for the same cannot each hold what the other needs; the first refusal stops, and what
 * was taken is given back. Meanwhile another may be refused for it; one too many is never let in.
 */
import { joinDecisions, rulesOf } from '../../core/decision.js';
import type { RemoteCounter } from './remote-counter.js';
import { type Action, type Answer, GIVE, PEEK, TAKE } from './request.js';

export type Ask = (
  action: Action,
  counters: readonly RemoteCounter[],
  count: number,
  time?: number,
) => Promise<Answer>;

type Group = readonly RemoteCounter[];

/** Counters by slot, and by time where it is told, in the order of their keys. */
export function groupsOf(
  counters: readonly RemoteCounter[],
  timeOf: (counter: RemoteCounter) => number = () => 0,
): Group[] {
  const groups = new Map<string, RemoteCounter[]>();
  for (const counter of counters) {
    const place = `${counter.slot} ${timeOf(counter)}`;
    const group = groups.get(place);
    if (group) group.push(counter);
    else groups.set(place, [counter]);
  }
  return inOrder([...groups.values()]);
}

export function inOrder(groups: readonly Group[]): Group[] {
  const first = (group: Group) => group.map(({ key }) => key).sort()[0]!;
  return [...groups].sort((a, b) => (first(a) < first(b) ? -1 : 1));
}

/**
 * Takes from all groups or from none.
 *
 * @throws what `ask` throws; what was taken before is given back then too
 */
export async function walk(
  groups: readonly Group[],
  all: readonly RemoteCounter[],
  take: boolean,
  cost: number,
  ask: Ask,
): Promise<Answer> {
  const answers = new Map<Group, Answer>();
  if (take) await takeInTurn(groups, cost, ask, answers);
  const untold = groups.filter((group) => !answers.has(group));
  await Promise.all(untold.map(async (group) => answers.set(group, await ask(PEEK, group, cost))));
  return joined(groups, all, answers);
}

/** Leaves in `answers` those of all groups, or of the one that refused. */
async function takeInTurn(
  groups: readonly Group[],
  cost: number,
  ask: Ask,
  answers: Map<Group, Answer>,
): Promise<void> {
  for (const group of groups) {
    let answer: Answer | undefined;
    try {
      answer = await ask(TAKE, group, cost);
    } finally {
      if (!answer || !tookAll(answer)) giveBack(answers, cost, ask);
    }
    if (!tookAll(answer)) answers.clear();
    answers.set(group, answer);
    if (!tookAll(answer)) return;
  }
}

function tookAll({ decision, blockedMillis }: Answer): boolean {
  return decision!.allowed && blockedMillis === 0;
}

/**
 * Nobody waits for it: what is asked of the same counters after it is answered after it. One that is
 * lost on the way stays spent, which errs on the safe side.
 */
function giveBack(taken: ReadonlyMap<Group, Answer>, cost: number, ask: Ask): void {
  for (const [group, { takenAtMillis }] of taken) {
    ask(GIVE, group, cost, takenAtMillis).catch(() => undefined);
  }
}

function joined(
  groups: readonly Group[],
  all: readonly RemoteCounter[],
  answers: ReadonlyMap<Group, Answer>,
): Answer {
  const rules = new Map(
    groups.flatMap((group) => {
      const decided = rulesOf(answers.get(group)!.decision!);
      return group.map((counter, i) => [counter, decided[i]!] as const);
    }),
  );
  const decision = joinDecisions(all.map((counter) => rules.get(counter)!));
  const told = [...answers.values()];
  const blockedMillis = Math.max(...told.map((answer) => answer.blockedMillis));
  const takenAtMillis = Math.max(...told.map((answer) => answer.takenAtMillis));
  const takenAtOf = new Map(
    [...answers].flatMap(([group, { takenAtMillis }]) =>
      group.map(({ key }) => [key, takenAtMillis] as const),
    ),
  );
  return { decision, blockedMillis, number: 0, takenAtMillis, takenAtOf };
}
