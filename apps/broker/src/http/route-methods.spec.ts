import type { FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { RouteMethods } from './route-methods.js';

describe('a path that is not found', () => {
  const routes = new RouteMethods();
  routes.note({ url: '/v1/merchants/:merchant/session', method: 'GET' });
  const refined = (url: string): BrokerError =>
    routes.refine(new BrokerError('route_not_found'), { url } as FastifyRequest);

  const tooMuch =
    'the base URL ends before /v1, without a slash: leave out what comes before the last /v1 of this path';
  const payments = expect.stringMatching(/^this is a broker: payments go to the egress/) as string;

  it.each<[url: string, told: string | undefined]>([
    ['//v1/merchants/shop/session', tooMuch],
    ['/broker/v1/merchants/shop/session?a=/v1/', tooMuch],
    ['/ecom/execute_request/hpp/v1/create-order', payments],
    ['/api-gateway/authorize_virtual_device?a=1', payments],
    ...['/v1/merchants/shop', '/v1/v1/merchants', '/', '/v1'].map((url): [string, undefined] => [url, undefined]),
  ])('is told what is too much, or whose it is, and nothing else without documents: %s', (url, publicDetail) => {
    expect(refined(url)).toMatchObject({ code: 'route_not_found', publicDetail });
  });

  it('is told whose it is without a credential as well, and nothing of a path of ours', () => {
    const refused = new BrokerError('unauthenticated', { detail: 'credential refused: absent' });
    const told = { code: 'unauthenticated', detail: refused.detail, publicDetail: payments };
    expect(routes.refine(refused, { url: '/ecom/execute_request/hpp/x' } as FastifyRequest)).toMatchObject(told);
    expect(routes.refine(refused, { url: '/broker/v1/merchants/shop/session' } as FastifyRequest)).toBe(refused);
  });

  it('is another matter when it is there under another method', () => {
    expect(refined('/v1/merchants/shop/session').code).toBe('method_not_allowed');
  });
});
