import { atMostPart } from '../lib/rows.mjs';
import { FASTIFY_PLUGIN, THROTTLER } from './apps.mjs';
import { platformSuite } from './platform.mjs';

export const { subjects, rounds, budgetSeconds, measure, report } = platformSuite(
  'fastify',
  FASTIFY_PLUGIN,
  {
    one: { [THROTTLER]: atMostPart('1/5', 1 / 5), [FASTIFY_PLUGIN]: atMostPart('1', 1) },
    three: atMostPart('1/8', 1 / 8),
    refusal: atMostPart('1/3', 1 / 3),
  },
);
