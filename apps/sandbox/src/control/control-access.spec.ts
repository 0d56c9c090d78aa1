import type { FastifyRequest } from 'fastify';
import { demandControlAccess } from './control-access.js';

const from = (ip: string, authorization?: string): FastifyRequest =>
  ({ ip, headers: { authorization } }) as unknown as FastifyRequest;

describe('access to control', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])('is free from %s', async (ip) => {
    await expect(demandControlAccess(undefined)(from(ip))).resolves.toBeUndefined();
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '1127.0.0.1'])('is forbidden from %s', async (ip) => {
    await expect(demandControlAccess(undefined)(from(ip))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is possible from anywhere with the token, and from nowhere without it', async () => {
    const demand = demandControlAccess('token');
    await expect(demand(from('10.0.0.1', 'Bearer token'))).resolves.toBeUndefined();
    await expect(demand(from('127.0.0.1'))).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(demand(from('127.0.0.1', 'Bearer other'))).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});
