import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type SignedInRequest, tenantOf } from './user.js';

/**
 * Stands in for a real guard (JWT, session): whoever sends `Authorization: Bearer alice` is alice.
 * Who sends nothing goes on as nobody.
 */
@Injectable()
export class BearerGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<SignedInRequest>();
    const id = /^Bearer (\S+)$/.exec(request.headers['authorization'] ?? '')?.[1];
    if (id !== undefined) request.user = { id, tenant: tenantOf(id) };
    return true;
  }
}
