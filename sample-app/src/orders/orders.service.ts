import { Injectable, NotFoundException } from '@nestjs/common';

export interface Order {
  readonly id: number;
  readonly item: string;
}

@Injectable()
export class OrdersService {
  private readonly orders: Order[] = [];

  list(): readonly Order[] {
    return this.orders.slice(-20);
  }

  find(id: number): Order {
    const order = this.orders[id - 1];
    if (!order) throw new NotFoundException(`There is no order ${id}`);
    return order;
  }

  place(item: string): Order {
    const order = { id: this.orders.length + 1, item };
    this.orders.push(order);
    return order;
  }
}
