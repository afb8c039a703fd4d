/**
 * One spelling of a route template for all frameworks: wildcards are `*`, whatever the router
 * calls them (`/files/*rest` and `/files/{*rest}` on Express 5, `/files/*` on Fastify).
 */
export function canonicalTemplate(path: string): string {
  const template = path
    .replace(/\{(\/?)\*\w*\}|\*\w*|\(\.\*\)/g, (_, slash = '') => `${slash}*`)
    .replace(/\/{2,}/g, '/');
  return template.length > 1 && template.endsWith('/') ? template.slice(0, -1) : template;
}
