import type { FastifyInstance } from 'fastify';
import { optional, readInput, shape } from '../input/read-input.js';
import { merchantId } from '../merchants/merchant.js';
import type { Notifications } from '../notifications/notifications.js';
import { idOf } from './parameters.js';
import { notFound } from './problem.js';

const listQuery = shape({ merchant: optional(merchantId) });

/** What was sent to notification URLs, and with what result. */
export function notificationRoutes(
  control: FastifyInstance,
  { notifications }: { readonly notifications: Notifications },
): void {
  control.get('/notifications', ({ query }) => notifications.list(readInput(listQuery, query).merchant));
  control.post('/notifications/:id/repeat', async ({ params }, reply) => {
    const id = idOf(params);
    if (!notifications.repeat(id)) throw notFound('there is no such notification, or its URL is not allowed');
    return reply.code(202).send({ repeated: id });
  });
}
