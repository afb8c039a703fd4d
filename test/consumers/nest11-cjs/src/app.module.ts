import { Module } from '@nestjs/common';
import { RateLimitModule } from 'nestjs-doorman';
import { TeaController } from './tea.controller';

@Module({
  imports: [RateLimitModule.forRoot({ rules: { default: 'token-bucket,5,10' } })],
  controllers: [TeaController],
})
export class AppModule {}
