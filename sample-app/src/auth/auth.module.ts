import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { BearerGuard } from './bearer.guard.js';
import { LoginController } from './login.controller.js';

@Module({
  controllers: [LoginController],
  providers: [{ provide: APP_GUARD, useClass: BearerGuard }],
})
export class AuthModule {}
