// Runs a file of the tests in a process of its own: node typescript-child.cjs file.ts …
const { readFileSync, existsSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  if (request.startsWith('.') && request.endsWith('.js') && parent) {
    const file = path.resolve(path.dirname(parent.filename), request.replace(/js$/, 'ts'));
    if (existsSync(file)) return file;
  }
  return resolve.call(this, request, parent, ...rest);
};

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    swcrc: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
    module: { type: 'commonjs' },
  });
  // What swc says is CommonJS, whatever the package says of its files.
  module._compile(code, filename);
};

require(process.argv[2]);
