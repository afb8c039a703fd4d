/** Runs the whole graph as CommonJS: @nestjs/* 12 is ESM-only and Jest on Node < 24.9 cannot require(esm). */
const swc = [
  '@swc/jest',
  {
    swcrc: false,
    sourceMaps: 'inline',
    jsc: {
      target: 'es2022',
      keepClassNames: true,
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'commonjs' },
  },
];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  // Two at a time, also on machines of two cores, where jest would take one.
  maxWorkers: 2,
  roots: ['<rootDir>/src', '<rootDir>/test', '<rootDir>/sample-app'],
  testRegex: '\\.(e2e-)?spec\\.ts$|\\.test\\.ts$',
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: [
    '<rootDir>/test/consumers/',
    '<rootDir>/bench/',
    '<rootDir>/dist/',
    '<rootDir>/sample-app/dist/',
  ],
  moduleNameMapper: {
    '^nestjs-doorman$': '<rootDir>/src/index.ts',
    '^nestjs-doorman/redis$': '<rootDir>/src/stores/redis/index.ts',
    '^nestjs-doorman/(.*)$': '<rootDir>/src/$1/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.[cm]?[jt]s$': swc },
  transformIgnorePatterns: ['/node_modules/@swc/'],
  collectCoverageFrom: ['src/**/*.ts', '!src/**/*.spec.ts'],
  coverageDirectory: 'coverage',
};
