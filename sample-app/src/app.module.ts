import { Module } from '@nestjs/common';
import { RateLimitModule } from 'nestjs-doorman';
import { AuthModule } from './auth/auth.module.js';
import type { SignedInRequest } from './auth/user.js';
import { HealthController } from './health/health.controller.js';
import { OrdersModule } from './orders/orders.module.js';
import { ReportsController } from './reports/reports.controller.js';
import { rules } from './rules.js';
import { SearchController } from './search/search.controller.js';
import { createStore } from './store.js';

@Module({
  imports: [
    // Before the limiter, so that its guard runs first and the limiter knows the user.
    AuthModule,
    // A store is opened and closed with its application: so a factory makes it.
    RateLimitModule.forRootAsync({
      useFactory: () => ({
        user: (request: SignedInRequest) => request.user?.id,
        rules,
        /** Joins whatever rule wins: one address, all users and routes together. */
        always: 'token-bucket,300,1m,by=ip,name=address',
        order: 'registered',
        store: createStore(process.env),
      }),
    }),
    OrdersModule,
  ],
  controllers: [SearchController, ReportsController, HealthController],
})
export class AppModule {}
