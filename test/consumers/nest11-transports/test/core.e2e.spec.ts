import { coreSuite } from './core-suite.js';

describe('on Nest 11', () => coreSuite(11));
