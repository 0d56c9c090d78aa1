import type { FastifyInstance } from 'fastify';
import { BrokerError } from '#libs/errors';
import { readInput, shape, wholeNumber, withDefault } from '../input/read-input.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { Rivals } from '../sessions/rivals.js';

const rivalry = shape({
  times: withDefault(wholeNumber(1, 100_000), 1),
  everyMs: withDefault(wholeNumber(1, 86_400_000), 1_000),
});

interface RivalParts {
  readonly merchants: MerchantBook;
  readonly rivals: Rivals;
}

type ById = { readonly Params: { readonly id: string } };

/** Another system that creates sessions with a merchant's service code. */
export function rivalRoutes(control: FastifyInstance, { merchants, rivals }: RivalParts): void {
  control.post<ById>('/merchants/:id/rival', async ({ params: { id }, body }, reply) => {
    const given = readInput(rivalry, body ?? {});
    if (merchants.byId(id) === undefined) throw new BrokerError('merchant_not_found');
    rivals.start(id, given);
    return reply.code(202).send(rivals.of(id));
  });
  control.get<ById>('/merchants/:id/rival', ({ params: { id } }) => rivals.of(id) ?? { times: 0, everyMs: 0, made: 0 });
  control.delete<ById>('/merchants/:id/rival', async ({ params: { id } }, reply) => {
    rivals.stop(id);
    return reply.code(204).send();
  });
}
