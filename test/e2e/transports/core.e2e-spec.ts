import { coreSuite } from './core-suite.js';

describe('on Nest 12', () => coreSuite(12));
