import type { IncomingMessage } from 'node:http';
import type { BrokerConfiguration } from '#libs/configuration';
import { endedAfterEach, eventually, FakeClock, LoopbackServer, TestIssuer } from '#libs/testing';
import type { Logger } from '#libs/telemetry';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { Authenticator } from './authenticator.service.js';

const { ISSUER, AUDIENCE, SUBJECT } = TestIssuer;

describe('a caller with a token of an issuer', () => {
  const [one, two] = [new TestIssuer('one'), new TestIssuer('two')];
  const started = endedAfterEach();
  const clock = new FakeClock();
  let published: readonly TestIssuer[];
  let requests: number;
  let configuration: ConfigurationInForce;
  let authenticator: Authenticator;
  let changes: number;

  const configured = (port: number, audience = AUDIENCE): BrokerConfiguration => {
    const keys = { kind: 'uri', uri: new URL(`http://127.0.0.1:${port}/jwks`) };
    const jwt = { issuer: ISSUER, audience, types: [], clockToleranceMs: 0, keys };
    return {
      auth: { disabled: false, tokens: [], policies: [], mtls: false, jwt },
      http: {},
    } as unknown as BrokerConfiguration;
  };
  const presenting = (issuer: TestIssuer): Pick<IncomingMessage, 'headers' | 'socket'> => {
    const headers = { authorization: `Bearer ${issuer.token(clock.now(), { exp: clock.now() / 1_000 + 86_400 })}` };
    return { headers } as IncomingMessage;
  };
  let port: number;

  beforeEach(async () => {
    [published, requests, changes] = [[one, two], 0, 0];
    const server = await LoopbackServer.http((_request, response) => {
      requests += 1;
      response.end(JSON.stringify({ keys: published.map(({ publicJwk }) => publicJwk) }));
    });
    port = started.add(server, (it) => it.close()).port;
    configuration = new ConfigurationInForce(configured(port));
    const logger = { warn: () => undefined, info: () => undefined } as unknown as Logger;
    authenticator = new Authenticator(configuration, clock, logger);
    authenticator.onKeysChanged(() => (changes += 1));
  });
  afterEach(() => authenticator.onModuleDestroy());

  it('is known until its key has left the set, though no other token ever comes, and that is told', async () => {
    const [removed, stays] = [presenting(one), presenting(two)];
    expect((await authenticator.authenticate(removed)).name).toBe(SUBJECT);
    await authenticator.authenticate(stays);
    published = [two];
    await clock.advance(600_000);
    await eventually(() => changes === 1);
    expect([authenticator.known(removed), authenticator.known(stays)?.name]).toEqual([undefined, SUBJECT]);
    await expect(authenticator.authenticate(removed)).rejects.toMatchObject({ refusal: 'unknown_key' });
  });

  it('costs a set that is no longer configured no more requests', async () => {
    await authenticator.authenticate(presenting(one));
    configuration.replace(configured(port, 'another'));
    await clock.advance(6_000_000);
    expect([requests, clock.pendingTasks]).toEqual([1, 0]);
  });
});
