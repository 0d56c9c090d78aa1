import type { FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { RouteMethods } from './route-methods.js';

describe('a path that is not found', () => {
  const routes = new RouteMethods();
  routes.note({ url: '/v1/merchants/:merchant/session', method: 'GET' });
  const refined = (url: string): BrokerError =>
    routes.refine(new BrokerError('route_not_found'), { url } as FastifyRequest);

  it.each(['//v1/merchants/shop/session', '/broker/v1/merchants/shop/session?a=/v1/'])(
    'is told what is too much when the end of it is one of ours: %s',
    (url) => {
      expect(refined(url)).toMatchObject({
        code: 'route_not_found',
        publicDetail:
          'the base URL ends before /v1, without a slash: leave out what comes before the last /v1 of this path',
      });
    },
  );

  it.each(['/ecom/execute_request/hpp/v1/create-order', '/api-gateway/authorize_virtual_device?a=1'])(
    'is told whose it is when payments go there, with a credential and without: %s',
    (url) => {
      const publicDetail = expect.stringMatching(/^this is a broker: payments go to the egress/);
      expect(refined(url)).toMatchObject({ code: 'route_not_found', publicDetail });
      const refused = new BrokerError('unauthenticated', { detail: 'credential refused: absent' });
      const told = { code: 'unauthenticated', detail: refused.detail, publicDetail };
      expect(routes.refine(refused, { url } as FastifyRequest)).toMatchObject(told);
    },
  );

  it('is told nothing of a path of ours without a credential', () => {
    const refused = new BrokerError('unauthenticated');
    expect(routes.refine(refused, { url: '/broker/v1/merchants/shop/session' } as FastifyRequest)).toBe(refused);
  });

  it.each(['/v1/merchants/shop', '/v1/v1/merchants', '/', '/v1'])(
    'is told nothing else without documents: %s',
    (url) => {
      expect(refined(url)).toMatchObject({ code: 'route_not_found', publicDetail: undefined });
    },
  );

  it('is another matter when it is there under another method', () => {
    expect(refined('/v1/merchants/shop/session').code).toBe('method_not_allowed');
  });
});
