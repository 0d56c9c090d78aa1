import type { FastifyInstance } from 'fastify';
import { BrokerError } from '#libs/errors';
import { thumbprint } from '../crypto/ec-key.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import { readMerchant, type Merchant } from '../merchants/merchant.js';
import type { SessionBook } from '../sessions/session-book.js';

interface MerchantParts {
  readonly merchants: MerchantBook;
  readonly sessions: SessionBook;
}

/** Onboarding, in place of the bank's back office. */
export function merchantRoutes(control: FastifyInstance, { merchants, sessions }: MerchantParts): void {
  control.get('/merchants', () => merchants.all().map(described));
  control.get<{ Params: { id: string } }>('/merchants/:id', ({ params }) => {
    const merchant = merchants.byId(params.id);
    if (merchant === undefined) throw new BrokerError('merchant_not_found');
    return described(merchant);
  });
  // The sessions of a merchant that is replaced stay: a new client key does not end them.
  control.post('/merchants', async ({ body }, reply) => {
    const merchant = readMerchant(body);
    const isNew = merchants.put(merchant);
    return reply.code(isNew ? 201 : 200).send(described(merchant));
  });
  control.delete<{ Params: { id: string } }>('/merchants/:id', async ({ params }, reply) => {
    if (!merchants.remove(params.id)) throw new BrokerError('merchant_not_found');
    sessions.forget(params.id);
    return reply.code(204).send();
  });
}

function described(merchant: Merchant): object {
  const { jwk } = merchant.publicJwk;
  return { ...merchant, publicJwk: jwk, clientKeyThumbprint: thumbprint(jwk) };
}
