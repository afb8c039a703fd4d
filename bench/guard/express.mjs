import { atMostPart } from '../lib/rows.mjs';
import { EXPRESS_MIDDLEWARE, THROTTLER } from './apps.mjs';
import { platformSuite } from './platform.mjs';

export const { subjects, rounds, budgetSeconds, measure, report } = platformSuite(
  'express',
  EXPRESS_MIDDLEWARE,
  {
    one: { [THROTTLER]: atMostPart('0.45', 0.45), [EXPRESS_MIDDLEWARE]: atMostPart('0.45', 0.45) },
    refusal: atMostPart('1/2', 1 / 2),
  },
);
