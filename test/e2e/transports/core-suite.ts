/*
 * What holds on every transport, one test for each cell of the table in docs/transports.md: run here
 * under Nest 12, and by a consumer of the packed package under Nest 11.
 */
import { type CoreApp, closeAll, TRANSPORTS, type TransportName } from './core-app.js';

/** The rows of the table: what is shown of each transport. */
const FEATURES = {
  'rules of the book': async ({ call, clock }: CoreApp) => {
    expect([await call('plain'), await call('plain')]).toEqual(['in', 'in']);
    expect(await call('plain')).toBe('no 10000');
    clock.advance(9999);
    expect(await call('plain')).toBe('no 1');
    clock.advance(1);
    expect(await call('plain')).toBe('in');
  },
  '@RateLimit': async ({ call, clock }: CoreApp) => {
    expect([await call('strict'), await call('strict')]).toEqual(['in', 'no 10000']);
    clock.advance(10_000);
    expect(await call('strict')).toBe('in');
  },
  'users apart': async ({ call }: CoreApp) => {
    expect([await call('strict', ALICE), await call('strict', ALICE)]).toEqual(['in', 'no 10000']);
    expect(await call('strict', BOB)).toBe('in');
  },
  'users whom later guards find out': async ({ call, service }: CoreApp) => {
    const alice = { token: 'alice' };
    expect([await call('guarded', alice), await call('guarded', alice)]).toEqual(['in', 'in']);
    expect(await call('guarded', alice)).toMatch('no');
    expect(await call('guarded', { token: 'bob' })).toBe('in');
    const api = service.describe().find((one) => one.handler.endsWith('guarded'))!.route;
    expect((await service.peek('bob', api)).remaining).toBe(1);
  },
  'count=failures': async ({ call }: CoreApp) => {
    for (let i = 0; i < 3; i++) expect(await call('login')).toBe('in');
    expect(await call('login', { bad: true })).toBe('failed');
    expect(await call('login')).toBe('no 10000');
  },
  'cost and settle': async ({ call }: CoreApp) => {
    for (let i = 0; i < 6; i++) expect(await call('heavy')).toBe('in');
    expect(await call('heavy')).toBe('no 10000');
  },
  'wait=': async ({ call, clock }: CoreApp) => {
    expect(await call('patient')).toBe('in');
    const second = call('patient');
    while (clock.slept === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
    expect(await second).toBe('in');
  },
  headers: async ({ call, header }: CoreApp) => {
    await call('strict');
    expect(header()).toBe('"Handlers.strict";r=0;t=10');
    await call('strict');
    expect(header()).toBe('"Handlers.strict";r=0;t=10');
  },
} as const;

export type FeatureName = keyof typeof FEATURES;

const ALICE = { user: 'alice' };
const BOB = { user: 'bob' };

/** The rows of the table. */
export const FEATURE_NAMES = Object.keys(FEATURES) as FeatureName[];
/** Its columns. */
export const TRANSPORT_NAMES = Object.keys(TRANSPORTS) as TransportName[];

/** Whether a cell says yes, for a version of Nest. */
export function isCovered(transport: TransportName, feature: FeatureName, nest: 11 | 12): boolean {
  if (feature === 'headers') return /HTTP|GraphQL/.test(transport);
  // What Nest applies no global guard to, and no global interceptor.
  const bare = /Hybrid/.test(transport) || (/Gateway/.test(transport) && nest === 11);
  const needsGlobals: FeatureName[] = [
    'rules of the book',
    'users whom later guards find out',
    'count=failures',
  ];
  return !bare || !needsGlobals.includes(feature);
}

/** What a cell that says no means. */
const UNCOVERED: Partial<Record<FeatureName, (app: CoreApp) => Promise<void>>> = {
  headers: async ({ call, header }) => {
    await call('strict');
    expect(header()).toBeUndefined();
  },
  'rules of the book': async ({ call }) => {
    for (let i = 0; i < 4; i++) expect(await call('plain')).toBe('in');
  },
  'users whom later guards find out': async ({ call }) => {
    for (let i = 0; i < 4; i++) expect(await call('guarded', { token: 'alice' })).toBe('in');
  },
  // Every call stays counted: nothing sees how it ends.
  'count=failures': async ({ call }) => {
    expect([await call('login'), await call('login')]).toEqual(['in', 'no 10000']);
  },
};

/** The test of each cell. */
export function coreSuite(nest: 11 | 12): void {
  afterEach(closeAll);

  describe.each(TRANSPORT_NAMES)('%s', (transport) => {
    it.each(FEATURE_NAMES)('%s', async (feature) => {
      const test = isCovered(transport, feature, nest) ? FEATURES[feature] : UNCOVERED[feature]!;
      await test(await TRANSPORTS[transport]({ rules: { default: 'fixed-window,2,10' } }));
    });
  });
}
