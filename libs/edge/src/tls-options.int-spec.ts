import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { TestAuthority } from '#libs/testing';
import { tlsOptions } from './tls-options.js';

describe('TLS of a port that serves', () => {
  const authority = new TestAuthority();
  let server: Server;

  beforeAll(async () => {
    server = createServer(tlsOptions(authority.issue({ names: ['localhost'] })));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    await once(server, 'close');
  });

  /** @returns the cipher that both ends agreed on */
  const agreed = async (options: ConnectionOptions): Promise<string> => {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.cert, ...options });
    try {
      await once(socket, 'secureConnect');
      return socket.getCipher().name;
    } finally {
      socket.destroy();
    }
  };

  it('is TLS 1.3 with the longest keys wherever the caller can', async () => {
    expect(await agreed({})).toBe('TLS_AES_256_GCM_SHA384');
  });

  it('takes forward secrecy and an AEAD of TLS 1.2, the longest keys first', async () => {
    const ciphers = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384';
    expect(await agreed({ maxVersion: 'TLSv1.2', ciphers })).toBe('ECDHE-ECDSA-AES256-GCM-SHA384');
  });

  it.each(['ECDHE-ECDSA-AES256-SHA384', 'ECDHE-ECDSA-AES128-SHA'])(
    'refuses %s, which Node.js would take',
    async (ciphers) => {
      await expect(agreed({ maxVersion: 'TLSv1.2', ciphers })).rejects.toThrow(/handshake failure/);
    },
  );

  it('refuses what is older than TLS 1.2', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(agreed(old)).rejects.toThrow();
  });
});
