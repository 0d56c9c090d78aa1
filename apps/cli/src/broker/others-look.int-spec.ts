import { BrokerError } from '#libs/errors';
import { endedAfterEach, FakeClock, LoopbackServer } from '#libs/testing';
import type { BrokerPlace } from './broker-place.js';
import { OthersLook } from './others-look.js';

const LISTED = [200, { merchants: [{ id: 'shop' }] }] as const;
const LACKING = [200, { merchants: [{ id: 'kiosk' }] }] as const;
const BLIND = [200, { merchants: [] }] as const;
const AWAY = [503, {}] as const;
const REFUSING = [401, { code: 'unauthenticated', title: 'Not known' }] as const;
const MANAGEMENT = [
  404,
  { type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found', title: 'Not here' },
] as const;

type Answer = readonly [number, object];

describe('what is told of the replicas beside the one that is followed', () => {
  const started = endedAfterEach();
  const followed = new URL('http://127.0.0.1:9');
  let answer: Answer = LISTED;
  let token: BrokerPlace['token'];
  let told: string[] = [];
  let facts: object[] = [];
  let other: URL;
  let others: OthersLook;

  beforeEach(async () => {
    [told, facts, answer] = [[], [], LISTED];
    token = () => Promise.resolve(undefined);
    const server = await LoopbackServer.http((_request, response) => {
      const [status, body] = answer;
      response.writeHead(status).end(JSON.stringify(body));
    });
    started.add(server, (it) => it.close());
    other = new URL(`http://127.0.0.1:${server.port}`);
    others = new OthersLook({
      broker: { urls: [other, followed], token: () => token(), hasToken: true, ca: undefined },
      merchant: 'shop',
      clock: new FakeClock(),
      signal: started.add(new AbortController(), (it) => it.abort()).signal,
      tell: ({ event, words, facts: more }) => {
        told.push(words);
        facts.push({ event, ...more });
      },
    });
  });

  async function look(...answers: readonly Answer[]): Promise<void> {
    for (const next of answers) {
      answer = next;
      await others.look(followed);
    }
  }

  const RELOAD =
    'see whether a reload has reached it, and whether its file is that of the others (runbook: config-reload-failed)';

  it('is nothing while they serve the merchant, and nothing of one that is away', async () => {
    await look(LISTED, AWAY, AWAY, LISTED);
    expect(told).toEqual([]);
  });

  it('is once that one does not have the merchant, and once that it has', async () => {
    await look(LACKING, LACKING, LACKING, LISTED, LISTED);
    const message = 'shop is not there, or not for this caller; it may see kiosk';
    expect(told).toEqual([
      `${followed.origin} serves the merchant, while another one does not:\n${other.origin}: ${message}\nWhat to do: ${RELOAD}`,
      `${other.origin} serves the merchant, too.`,
    ]);
    const error = { code: 'forbidden', message, remedy: RELOAD, runbook: 'config-reload-failed' };
    const replicas = [{ place: other.origin, error }];
    expect(facts).toEqual([
      { event: 'replicas', merchant: 'shop', agree: false, servedBy: followed.origin, replicas },
      { event: 'replicas', merchant: 'shop', agree: true },
    ]);
  });

  it('is nothing of a reload that comes to one after the other', async () => {
    await look(LACKING, LISTED, LACKING, LISTED);
    expect(told).toEqual([]);
  });

  it('is no end of it where one is away, or there is no token to ask with', async () => {
    await look(LACKING, LACKING, AWAY, AWAY);
    token = () => Promise.reject(new BrokerError('invalid_request', { publicDetail: 'no token' }));
    await look(LISTED, LISTED);
    expect(told).toHaveLength(1);
  });

  it.each<[string, Answer, object]>([
    ['lets the caller read nothing', BLIND, { code: 'no_merchant_readable', remedy: RELOAD }],
    [
      'does not know the token that the one that is followed accepts',
      REFUSING,
      { code: 'unauthenticated', remedy: RELOAD },
    ],
    ['is the management port', MANAGEMENT, { code: 'route_not_found', remedy: 'correct --url, or BROKER_URL' }],
  ])('is that one %s, and what to do', async (_what, wrong, error) => {
    await look(wrong, wrong);
    expect(facts).toMatchObject([{ agree: false, replicas: [{ place: other.origin, error }] }]);
  });

  it('is over where the one that did not have the merchant is the one that is followed', async () => {
    await look(LACKING, LACKING);
    await others.look(other);
    expect(told.slice(1)).toEqual([`${other.origin} serves the merchant, too.`]);
  });

  it('is the end of what was told elsewhere of one that hung, once it serves the merchant', async () => {
    const error = { code: 'broker_unreachable', message: 'no answer in time' };
    others.accuse([{ url: other, error, fault: 'tryLater' }]);
    await look(AWAY, LISTED, LISTED);
    expect(told).toEqual([`${other.origin} serves the merchant, too.`]);
    expect(facts).toEqual([{ event: 'replicas', merchant: 'shop', agree: true }]);
  });
});
