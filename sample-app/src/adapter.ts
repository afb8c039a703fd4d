import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

const ADAPTERS: Record<string, () => AbstractHttpAdapter> = {
  express: () => new ExpressAdapter(),
  fastify: () => new FastifyAdapter(),
};

/** @throws Error for a name that is neither express nor fastify */
export function createAdapter(name: string): AbstractHttpAdapter {
  const create = Object.hasOwn(ADAPTERS, name) ? ADAPTERS[name] : undefined;
  if (!create) throw new Error(`ADAPTER is ${Object.keys(ADAPTERS).join(' or ')}, got "${name}"`);
  return create();
}
