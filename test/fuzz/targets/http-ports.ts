import fc from 'fast-check';
import { TOKENS } from '../../e2e/running-broker.js';
import { demand, type FuzzTarget, type OpenTarget } from '../fuzz-target.js';
import { readAnswers } from '../http/answers.js';
import { exchange } from '../http/exchange.js';
import { judgeAnswer } from '../http/judge.js';
import { connectionsTo, type PortMap, type WildConnection } from '../http/requests.js';
import { type HttpStage, shareStage } from '../http/stage.js';

interface HttpPort {
  readonly name: string;
  readonly port: keyof HttpStage['ports'];
  /** Where the same program says that it is alive. */
  readonly livesAt: keyof HttpStage['ports'];
  readonly map: (stage: HttpStage) => PortMap;
  readonly declares: (status: number) => boolean;
}

const SESSION = '/v1/merchants/shop/session';
/** At the same time: those that wait for the rest of a request then wait together. */
const MAX_CONNECTIONS = 96;
const ROUNDS = 12;

const api: HttpPort = {
  name: 'api',
  port: 'api',
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
  port: 'management',
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
  port: 'egress',
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

const holdsNone = (text: string, secrets: readonly string[]): boolean =>
  !secrets.some((secret) => text.includes(secret));

function open(target: HttpPort, stage: HttpStage): OpenTarget {
  const port = stage.ports[target.port];
  let connections = 0;
  const check = async (connection: WildConnection): Promise<void> => {
    const { text, isCut } = await exchange(port, connection);
    connections += 1;
    const answers = isCut ? [] : readAnswers(text, connection.octets.toString('latin1'));
    for (const answer of answers) judgeAnswer(answer, target.declares);
    demand(holdsNone(text, stage.secrets), 'an answer holds no secret');
  };
  const list = fc.array(connectionsTo(target.map(stage)), { minLength: 1, maxLength: MAX_CONNECTIONS, size: 'max' });
  const property = fc.asyncProperty(list, async (drawn) => {
    await Promise.all(drawn.map(check));
    demand(await livesOn(stage.ports[target.livesAt]), 'the program lives');
    demand(holdsNone(stage.takeLines().join(''), stage.secrets), 'the log holds no secret');
  });
  const takeCount = (): number => {
    const taken = connections;
    connections = 0;
    return taken;
  };
  return { property: property, takeCount, close: stage.close };
}

/** Real ports of real programs, and whatever anyone can write to them. */
export const httpPorts: readonly FuzzTarget[] = [api, management, egress].map((target) => ({
  name: target.name,
  runsPerRound: ROUNDS,
  open: async () => open(target, await shareStage()),
}));
