import { canonicalTemplate } from '../../src/http/template.js';

describe('a route template', () => {
  it.each([
    ['/', '/'],
    ['', ''],
    ['/orders', '/orders'],
    ['/orders/', '/orders'],
    ['/orders//', '/orders'],
    ['//orders///list', '/orders/list'],
    ['//', '/'],
    ['/orders/:id', '/orders/:id'],
    ['/orders/:id/', '/orders/:id'],
    ['/v1/orders/:id/items/:item', '/v1/orders/:id/items/:item'],
    ['/orders{/:id}', '/orders{/:id}'],
    ['/flights/:from-:to', '/flights/:from-:to'],
    ['/orders/:id(\\d+)', '/orders/:id(\\d+)'],
    ['/files/*', '/files/*'],
    ['/files/*rest', '/files/*'],
    ['/files/*rest_2', '/files/*'],
    ['/files/{*rest}', '/files/*'],
    ['/files{/*rest}', '/files/*'],
    ['/files/(.*)', '/files/*'],
    ['/*', '/*'],
    ['*', '*'],
    ['/{*splat}', '/*'],
    ['/a/*x/b/*y', '/a/*/b/*'],
    ['/Orders', '/Orders'],
    ['/bücher', '/bücher'],
  ])('%j is %j on every framework', (path, template) => {
    expect(canonicalTemplate(path)).toBe(template);
  });

  it.each(['/files/*rest', '/files{/*rest}', '/a//b/', '/', '/a/*x/b'])(
    'that is canonical already stays as it is: %j',
    (path) => {
      const once = canonicalTemplate(path);
      expect(canonicalTemplate(once)).toBe(once);
    },
  );
});
