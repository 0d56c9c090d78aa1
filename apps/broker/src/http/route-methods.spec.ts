import type { FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { RouteMethods } from './route-methods.js';

describe('a path that is not found', () => {
  const routes = new RouteMethods();
  routes.note({ url: '/v1/merchants/:merchant/session', method: 'GET' });
  const refined = (url: string): BrokerError =>
    routes.refine(new BrokerError('route_not_found'), { url } as FastifyRequest);

  it.each(['/v1/v1/merchants/shop/session', '//v1/merchants/shop/session', '/broker/v1/merchants/shop/session?a=/v1/'])(
    'is told what is too much when the end of it is one of ours: %s',
    (url) => {
      expect(refined(url)).toMatchObject({
        code: 'route_not_found',
        publicDetail:
          'there is something before the last /v1 of the path: the base URL ends before it, without a slash',
      });
    },
  );

  it.each(['/v1/merchants/shop', '/v1/v1/merchants', '/', '/v1'])('is told nothing else: %s', (url) => {
    expect(refined(url)).toMatchObject({ code: 'route_not_found', publicDetail: undefined });
  });

  it('is another matter when it is there under another method', () => {
    expect(refined('/v1/merchants/shop/session').code).toBe('method_not_allowed');
  });
});
