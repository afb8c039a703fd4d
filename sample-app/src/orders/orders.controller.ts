import { Body, Controller, Get, Param, ParseIntPipe, Post } from '@nestjs/common';
import { OrdersService } from './orders.service.js';

/** Nothing is decorated here: the rule book's default applies, by user and route. */
@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  list() {
    return this.orders.list();
  }

  /** One counter for all ids: what counts is the template `/orders/:id`. */
  @Get(':id')
  find(@Param('id', ParseIntPipe) id: number) {
    return this.orders.find(id);
  }

  @Post()
  place(@Body() body: { item?: string } = {}) {
    return this.orders.place(body.item ?? 'a surprise');
  }
}
