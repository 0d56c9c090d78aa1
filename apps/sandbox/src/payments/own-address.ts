import { headerOf, type GatewayRequest } from '../gateway/operation.js';

const HOST = /^([\w.-]{1,253}|\[[\da-f:]{2,39}\])(:\d{1,5})?$/i;

/**
 * The address by which the caller reached the sandbox, so that links in an answer lead back to it through any proxy.
 */
export function ownAddress(request: GatewayRequest): string {
  const host = headerOf(request, 'host') ?? '';
  return `http://${HOST.test(host) ? host : 'localhost'}`;
}
