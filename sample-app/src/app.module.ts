import { Module } from '@nestjs/common';
import { RateLimitModule } from 'nestjs-doorman';
import { AssistantController } from './assistant/assistant.controller.js';
import { AuthModule } from './auth/auth.module.js';
import type { SignedInRequest } from './auth/user.js';
import { CatalogueController } from './catalogue/catalogue.controller.js';
import { HealthController } from './health/health.controller.js';
import { LimitsController } from './limits/limits.controller.js';
import { MailController } from './mail/mail.controller.js';
import { MailService } from './mail/mail.service.js';
import { OrdersModule } from './orders/orders.module.js';
import { Plans } from './plans/plans.js';
import { PlansModule } from './plans/plans.module.js';
import { RecommendationsController } from './recommendations/recommendations.controller.js';
import { ReportsController } from './reports/reports.controller.js';
import { always, rules } from './rules.js';
import { SearchController } from './search/search.controller.js';
import { createStore } from './store.js';

@Module({
  imports: [
    // Before the limiter, so that its guard runs first and the limiter knows the user at once:
    // else users are told apart only after it, at a second door, which costs some µs a request.
    AuthModule,
    PlansModule,
    // A store is opened and closed with its application: so a factory makes it.
    RateLimitModule.forRootAsync({
      useFactory: () => ({
        user: (request: SignedInRequest) => request.user?.id,
        tierOf: Plans,
        dimensions: {
          tenant: (ctx) => ctx.switchToHttp().getRequest<SignedInRequest>().user?.tenant,
          'api-key': {
            value: (ctx) => ctx.switchToHttp().getRequest<SignedInRequest>().headers['x-api-key'],
            secret: true,
          },
        },
        secretKey: process.env['SECRET_KEY'] ?? 'a key for trying the shop out',
        rules,
        always,
        // Changes of the file are in force within a second or two: `policy.recommendations = …`.
        ...(process.env['RULES_FILE'] && {
          rulesFile: { path: process.env['RULES_FILE'], pollMillis: 1000 },
        }),
        warnAt: 0.8,
        order: 'registered',
        store: createStore(process.env),
      }),
    }),
    OrdersModule,
  ],
  controllers: [
    SearchController,
    ReportsController,
    CatalogueController,
    AssistantController,
    RecommendationsController,
    MailController,
    LimitsController,
    HealthController,
  ],
  providers: [MailService],
})
export class AppModule {}
