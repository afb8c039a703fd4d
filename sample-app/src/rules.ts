import type { RuleBookSource } from 'nestjs-doorman';

/** Who may do what how often. */
export const rules = {
  /** Each user on each route: five at once, then one every 2 s. */
  default: 'token-bucket,5,10',
  api: {
    '/login': 'fixed-window,2,10',
  },
  user: {
    'vip-1': 'token-bucket,8,10',
  },
  policy: {
    export: 'sliding-window-counter,10,1h',
  },
} as const satisfies RuleBookSource;
