/*
 * A Nest application with one handler, for each platform, and what limits it. Headers are on where
 * they are by default; nothing logs.
 */
import 'reflect-metadata';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { PRODUCT } from '../lib/rows.mjs';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** More than any benchmark sends. */
const GENEROUS = 1_000_000;

export const NONE = 'no limiter';
export const EMPTY = 'empty guard';
export const OURS = PRODUCT;
export const OURS_THREE = `${PRODUCT}, three rules`;
export const OURS_REFUSING = `${PRODUCT}, refusing`;
/** Handlers with a guard of the application that says who asks. */
export const SIGNED_IN = 'a guard that signs in, no limiter';
export const SIGNED_IN_INTERCEPTOR = 'the same and an idle global interceptor';
export const OURS_BY_ADDRESS = `${PRODUCT}, stage guard`;
export const OURS_TWO_DOORS = `${PRODUCT}, two doors`;
export const THROTTLER = '@nestjs/throttler';
export const THROTTLER_THREE = '@nestjs/throttler, three limits';
export const THROTTLER_REFUSING = '@nestjs/throttler, refusing';
export const FASTIFY_PLUGIN = '@fastify/rate-limit';
export const EXPRESS_MIDDLEWARE = 'express-rate-limit';

/** Each limiter: what it adds to the root module, and what to the application before it starts. */
const LIMITERS = {
  [NONE]: {},
  [EMPTY]: { module: () => guardedBy(EmptyGuard) },
  [OURS]: { module: () => doorman(`token-bucket,${GENEROUS},1m`) },
  [OURS_THREE]: {
    module: () =>
      doorman(
        `token-bucket,${GENEROUS},1m & fixed-window,${GENEROUS},1h & sliding-window-counter,${GENEROUS},1d`,
      ),
  },
  [OURS_REFUSING]: { module: () => doorman('token-bucket,1,1d') },
  [SIGNED_IN]: { controller: () => SignedInController },
  [SIGNED_IN_INTERCEPTOR]: {
    controller: () => SignedInController,
    module: () => ({ providers: [{ provide: APP_INTERCEPTOR, useClass: IdleInterceptor }] }),
  },
  [OURS_BY_ADDRESS]: {
    controller: () => SignedInController,
    module: () => doorman(`token-bucket,${GENEROUS},1m`, { stage: 'guard' }),
  },
  [OURS_TWO_DOORS]: {
    controller: () => SignedInController,
    module: () => doorman(`token-bucket,${GENEROUS},1m`),
  },
  [THROTTLER]: { module: () => throttler([{ limit: GENEROUS, ttl: MINUTE }]) },
  [THROTTLER_THREE]: {
    module: () =>
      throttler([
        { name: 'short', limit: GENEROUS, ttl: MINUTE },
        { name: 'medium', limit: GENEROUS, ttl: HOUR },
        { name: 'long', limit: GENEROUS, ttl: DAY },
      ]),
  },
  [THROTTLER_REFUSING]: { module: () => throttler([{ limit: 1, ttl: DAY }]) },
  [FASTIFY_PLUGIN]: {
    async prepare(app) {
      const { default: rateLimit } = await import('@fastify/rate-limit');
      await app.register(rateLimit, { max: GENEROUS, timeWindow: MINUTE });
    },
  },
  [EXPRESS_MIDDLEWARE]: {
    async prepare(app) {
      const { rateLimit } = await import('express-rate-limit');
      app.use(rateLimit({ limit: GENEROUS, windowMs: MINUTE }));
    },
  },
};

export async function createApp(platform, limiterName) {
  const limiter = LIMITERS[limiterName];
  const rootModule = moduleWith(
    (await limiter.module?.()) ?? {},
    limiter.controller?.() ?? HelloController,
  );
  const app = await NestFactory.create(rootModule, await adapterOf(platform), { logger: false });
  await limiter.prepare?.(app);
  await app.init();
  if (platform === 'fastify') await app.getHttpAdapter().getInstance().ready();
  return app;
}

async function adapterOf(platform) {
  if (platform === 'fastify') {
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    return new FastifyAdapter();
  }
  const { ExpressAdapter } = await import('@nestjs/platform-express');
  return new ExpressAdapter();
}

class HelloController {
  hello() {
    return 'hello';
  }
}
const { prototype } = HelloController;
Get('hello')(prototype, 'hello', Object.getOwnPropertyDescriptor(prototype, 'hello'));
Controller()(HelloController);

class SignInGuard {
  canActivate(context) {
    const request = context.getArgByIndex(0);
    request.user = { id: request.ip };
    return true;
  }
}

class IdleInterceptor {
  intercept(_context, next) {
    return next.handle();
  }
}

class SignedInController extends HelloController {}
UseGuards(SignInGuard)(SignedInController);
Controller()(SignedInController);

function moduleWith({ imports = [], providers = [] }, controller) {
  class AppModule {}
  Module({ imports, providers, controllers: [controller] })(AppModule);
  return AppModule;
}

class EmptyGuard {
  canActivate() {
    return true;
  }
}

function guardedBy(guard) {
  return { providers: [{ provide: APP_GUARD, useClass: guard }] };
}

async function doorman(rule, options = {}) {
  const { RateLimitModule } = await import('../../dist/esm/index.js');
  return { imports: [RateLimitModule.forRoot({ rules: { default: rule }, ...options })] };
}

async function throttler(limits) {
  const { ThrottlerGuard, ThrottlerModule } = await import('@nestjs/throttler');
  return { ...guardedBy(ThrottlerGuard), imports: [ThrottlerModule.forRoot(limits)] };
}
