import { Module } from '@nestjs/common';
import { Plans } from './plans.js';

@Module({ providers: [Plans] })
export class PlansModule {}
