import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { MailService } from './mail.service.js';

@Controller('mails')
export class MailController {
  constructor(private readonly mail: MailService) {}

  @Post()
  @HttpCode(202)
  send(@Body() { to = [] }: { readonly to?: readonly string[] } = {}) {
    this.mail.enqueue(to);
    return { queued: to.length };
  }

  @Get()
  state() {
    const { sent, failed } = this.mail;
    return { sent, failed };
  }
}
