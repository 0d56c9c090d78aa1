import fc from 'fast-check';
import { endedAfterAll } from '#libs/testing';
import { TOKENS } from '../e2e/running-broker.js';
import { readAnswers } from './http/answers.js';
import { exchange } from './http/exchange.js';
import { judgeAnswer } from './http/judge.js';
import { connectionsTo, type PortMap, type WildConnection } from './http/requests.js';
import { type HttpStage, startStage } from './http/stage.js';

interface HttpPort {
  readonly name: keyof HttpStage['ports'];
  /** Where the same program says that it is alive. */
  readonly livesAt: keyof HttpStage['ports'];
  readonly map: (stage: HttpStage) => PortMap;
  readonly declares: (status: number) => boolean;
}

const SESSION = '/v1/merchants/shop/session';
/** At the same time: those that wait for the rest of a request then wait together. */
const MAX_CONNECTIONS = 96;
const ROUNDS = 12;
/** Within it, a find is made as small as it can be. */
const WITHIN_MS = 60_000;

const api: HttpPort = {
  name: 'api',
  livesAt: 'management',
  map: () => ({
    targets: [
      ...[
        '',
        '/headers',
        '/headers/ext_authz',
        '/headers/ext_authz/v1/pay',
        '/events',
        '/rejections',
        '/handovers',
        '/renewal',
      ].map((path) => SESSION + path),
      ...['/v1/merchants', '/v1/merchants/shop/payloads/encrypt', '/v1/merchants/shop/payloads/decrypt'],
      ...['/v1/merchants/shop/notifications/open', '/v1/merchants/hidden/session', '/openapi.json', '/docs', '/docs/'],
    ],
    tokens: Object.values(TOKENS),
    bodies: [
      '{"generation":1,"reason":"SESSION_EXPIRED"}',
      '{"generation":1,"participant":"p-1"}',
      '{"plaintext":"a card","encoding":"utf-8"}',
      '{"jwe":"a.b.c.d.e"}',
      '{"body":"{}"}',
      'x'.repeat(70_000),
    ],
  }),
  declares: () => false,
};
const management: HttpPort = {
  name: 'management',
  livesAt: 'management',
  map: () => ({
    targets: ['/livez', '/readyz', '/metrics', '/status', '/status/', '/status.json', '/'],
    tokens: [TOKENS.admin],
    bodies: ['{}'],
  }),
  // Not being ready has its own form of answer.
  declares: (status) => status === 503,
};
const egress: HttpPort = {
  name: 'egress',
  livesAt: 'egressManagement',
  map: ({ clientToken }) => ({
    targets: [
      '/ecom/execute_request/hpp/v1/create-order',
      '/ecom/execute_request/hpp/v1/get-order-status',
      '/ecom/execute_request/payment/v1/pay',
      '/api-gateway/authorize_virtual_device',
      '/api-gateway/v1/server-public',
    ],
    tokens: [clientToken],
    bodies: [
      '{"merchantRequestId":"o-1","coinAmount":100}',
      '{"jwe":"a.b.c.d.e"}',
      '{"encryptedCardNumber":"a.b.c.d.e"}',
    ],
  }),
  // The gateway's own answers are passed on as they are.
  declares: () => true,
};

async function livesOn(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/livez`);
  return answer.status === 200 && (await answer.text()) !== '';
}

describe('whatever is written to a port', () => {
  let stage: HttpStage;
  const started = endedAfterAll();
  beforeAll(async () => {
    stage = started.add(await startStage(), (it) => it.close());
  });

  const secretsIn = (text: string): readonly string[] => stage.secrets.filter((secret) => text.includes(secret));

  const check = async (port: HttpPort, connection: WildConnection): Promise<void> => {
    const { text, isCut } = await exchange(stage.ports[port.name], connection);
    const answers = isCut ? [] : readAnswers(text, connection.octets.toString('latin1'));
    for (const answer of answers) judgeAnswer(answer, port.declares);
    expect(secretsIn(text)).toEqual([]);
  };

  it.each([api, management, egress])(
    'is answered in strict HTTP, by codes of the registry and without a secret, and the program lives on: $name',
    async (port) => {
      const lists = fc.array(connectionsTo(port.map(stage)), { minLength: 1, maxLength: MAX_CONNECTIONS, size: 'max' });
      await fc.assert(
        fc.asyncProperty(lists, async (drawn) => {
          await Promise.all(drawn.map((connection) => check(port, connection)));
          expect(await livesOn(stage.ports[port.livesAt])).toBe(true);
          expect(secretsIn(stage.takeLines().join(''))).toEqual([]);
        }),
        { numRuns: ROUNDS, interruptAfterTimeLimit: WITHIN_MS },
      );
    },
  );
});
