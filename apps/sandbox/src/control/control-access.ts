import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';

/** Lets in the holder of the token or, if none is set, everyone on the same machine. */
export function demandControlAccess(token: string | undefined): (request: FastifyRequest) => Promise<void> {
  const due = token === undefined ? undefined : digest(`Bearer ${token}`);
  return (request) => {
    if (due === undefined) return isLoopback(request.ip) ? Promise.resolve() : Promise.reject(elsewhere());
    const isDue = timingSafeEqual(digest(request.headers.authorization ?? ''), due);
    return isDue ? Promise.resolve() : Promise.reject(new BrokerError('unauthenticated'));
  };
}

function elsewhere(): BrokerError {
  return new BrokerError('forbidden', {
    publicDetail: 'control requests are taken from loopback addresses only, unless SANDBOX_CONTROL_TOKEN is set',
  });
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

/** Of fixed length, whatever was sent, as the comparison requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
