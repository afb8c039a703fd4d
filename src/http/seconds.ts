/** Whole seconds, rounded up: waiting that long is never too short. */
export function secondsUp(millis: number): number {
  return Math.ceil(millis / 1000);
}
