import type { FastifyInstance } from 'fastify';
import { endingCodes } from '../gateway/refusal.js';
import { oneOf, optional, readInput, shape, withDefault } from '../input/read-input.js';
import { merchantId } from '../merchants/merchant.js';
import type { SessionBook } from '../sessions/session-book.js';
import { idOf } from './parameters.js';
import { notFound } from './problem.js';

const listQuery = shape({ merchant: optional(merchantId) });
const msgCode = withDefault(oneOf(endingCodes), 'b_auth_token_expired');
const revokeQuery = shape({ msgCode });
const revokeAllQuery = shape({ merchant: optional(merchantId), msgCode });

export function sessionRoutes(control: FastifyInstance, { sessions }: { readonly sessions: SessionBook }): void {
  control.get('/sessions', ({ query }) => sessions.list(readInput(listQuery, query).merchant));
  control.delete('/sessions', ({ query }) => {
    const read = readInput(revokeAllQuery, query);
    return { revoked: sessions.revokeAll(read.merchant, read.msgCode) };
  });
  control.delete('/sessions/:id', async ({ params, query }, reply) => {
    if (!sessions.revoke(idOf(params), readInput(revokeQuery, query).msgCode)) throw notFound('no such session');
    return reply.code(204).send();
  });
}
