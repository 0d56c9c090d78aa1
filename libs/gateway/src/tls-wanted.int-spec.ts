import { leadsElsewhere } from '#libs/session';
import { endedAfterEach, FakeClock, LoopbackServer, TestAuthority } from '#libs/testing';
import { callGateway } from './gateway-call.js';
import { GatewayConnections } from './gateway-connections.js';

const clock = new FakeClock();
const started = endedAfterEach();

async function failureAt({ port }: LoopbackServer): Promise<unknown> {
  const connections = started.add(new GatewayConnections(clock), (it) => it.close());
  const origin = `http://127.0.0.1:${port}`;
  const request = { origin, path: '/', headers: {}, body: '{"serviceCode":"canary"}' };
  const gateway = {
    baseUrl: new URL(origin),
    tls: { pins: [] },
    timeoutMs: 5_000,
    environment: 'test',
  } as const;
  const { signal } = new AbortController();
  return callGateway({ connections, clock }, { gateway, request, signal }).catch((error: unknown) => error);
}

const begun = async (server: Promise<LoopbackServer>): Promise<LoopbackServer> =>
  started.add(await server, (it) => it.close());

describe('a call without TLS that breaks off', () => {
  it('is told as one by the wrong scheme where a handshake does not', async () => {
    const certificate = new TestAuthority().issue({ names: ['bank.example'] });
    const asked: unknown[] = [];
    const server = await begun(LoopbackServer.https(certificate, (request) => void asked.push(request.url)));
    const failure = (await failureAt(server)) as Parameters<typeof leadsElsewhere>[0];
    expect(failure).toMatchObject({
      kind: 'transient',
      trace: { mark: 'ERR_BROKER_TLS_SPOKEN', peer: `127.0.0.1:${server.port}` },
    });
    expect(leadsElsewhere(failure)).toBe(true);
    expect(asked).toEqual([]);
    expect(server.connections).toBe(2);
  });

  it('stays what it is where the handshake breaks off, too, and nothing of the call is sent twice', async () => {
    const heard: string[] = [];
    const server = await begun(
      LoopbackServer.tcp((socket) => {
        socket.once('data', (octets: Buffer) => {
          heard.push(octets.toString('latin1'));
          socket.destroy();
        });
      }),
    );
    expect(await failureAt(server)).toMatchObject({ kind: 'transient', trace: { mark: 'UND_ERR_SOCKET' } });
    expect(heard).toHaveLength(2);
    expect(heard.filter((octets) => octets.includes('canary'))).toHaveLength(1);
  });
});
