import type { FastifyPluginCallback, FastifyReply } from 'fastify';
import { isOpen, type Order } from './order.js';
import { payOrder } from './order-requests.js';
import type { PaymentParts } from './played-payment.js';

type ById = { readonly Params: { readonly id: string }; readonly Querystring: { readonly outcome?: unknown } };

/** The bank's page that `redirectUrl` leads to, with a button to pay and one to fail; and `statusUrl`. */
export function hostedPage(parts: Pick<PaymentParts, 'book' | 'clock' | 'notices'>): FastifyPluginCallback {
  const { book, clock } = parts;
  return (app, _options, done) => {
    app.get<ById>('/hpp/orders/:id', async ({ params }, reply) => {
      const order = book.order(params.id);
      if (order === undefined) return page(reply.code(404), '<p>There is no such order.</p>');
      return page(reply, isOpen(order, clock.now()) ? choice(order) : `<p>The order is ${order.status}.</p>`);
    });
    app.post<ById>('/hpp/orders/:id', async ({ params, query }, reply) => {
      const order = book.order(params.id);
      if (order === undefined) return page(reply.code(404), '<p>There is no such order.</p>');
      if (!isOpen(order, clock.now())) return page(reply.code(409), `<p>The order is ${order.status}.</p>`);
      const { status } = payOrder(parts, order, query.outcome === 'FAIL' ? 'FAIL' : 'SUCCESS');
      return page(reply, `<p>The payment has the status ${status}.</p>`);
    });
    app.get<ById>('/hpp/orders/:id/status', async ({ params }, reply) => {
      const order = book.order(params.id);
      if (order === undefined) return reply.code(404).send({});
      return { hppOrderId: order.hppOrderId, orderStatus: order.status };
    });
    app.get('/3ds/:id', async (_request, reply) => page(reply, '<p>3-D Secure is passed. Execute the purchase.</p>'));
    done();
  };
}

/** Shows nothing written by the merchant except the amount, which is a number. */
function choice({ hppOrderId, coinAmount }: Order): string {
  const button = (outcome: string, text: string): string =>
    `<form method="post" enctype="text/plain" action="/hpp/orders/${hppOrderId}?outcome=${outcome}"><button>${text}</button></form>`;
  return `<p>Pay ${(coinAmount / 100).toFixed(2)} UAH?</p>${button('SUCCESS', 'Pay')}${button('FAIL', 'Decline')}`;
}

function page(reply: FastifyReply, content: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .send(`<!DOCTYPE html>\n<html lang="en"><head><title>Sandbox</title></head><body>${content}</body></html>\n`);
}
