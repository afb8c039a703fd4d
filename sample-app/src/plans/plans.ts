import { Injectable } from '@nestjs/common';
import { TierResolver } from 'nestjs-doorman';
import { tenantOf } from '../auth/user.js';

/**
 * Says which plan a user has, from what would be tables of a database. A user of a tenant has the
 * tenant's own limit, which all its users share.
 */
@Injectable()
export class Plans extends TierResolver {
  private readonly planOfUser = new Map([
    ['pro-1', 'pro'],
    ['corp-1', 'enterprise'],
  ]);
  private readonly requestsOfTenant = new Map([
    ['acme', 3],
    ['globex', 30],
  ]);

  async tierOf(userId: string) {
    const requests = this.requestsOfTenant.get(tenantOf(userId) ?? '');
    if (requests !== undefined) return `token-bucket,${requests},10,by=tenant`;
    return this.planOfUser.get(userId);
  }
}
