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
  /** Who has which one says plans/plans.ts. A paid plan does not lift the limit on the login. */
  tier: {
    pro: { default: 'token-bucket,20,10', api: { '/login': 'fixed-window,2,10' } },
    enterprise: { default: 'token-bucket,50,10', api: { '/login': 'fixed-window,2,10' } },
  },
  policy: {
    export: 'sliding-window-counter,10,1h',
    /** Tried first: it lets all in, and events tell whom it would have refused. */
    recommendations: 'token-bucket,2,10,mode=shadow',
  },
} as const satisfies RuleBookSource;

/** Join whatever rule wins. */
export const always = {
  /** One address, all users and routes together. */
  address: 'token-bucket,300,1m,by=ip,name=address',
  /** On top of all others: a day's quota of each user, all routes together. */
  daily: 'fixed-window,1000,1d,by=user,name=daily',
} as const satisfies RuleBookSource['always'];
