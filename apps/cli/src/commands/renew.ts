import { type BrokerOptions, type BrokerPlace, brokerPlace } from '../broker/broker-place.js';
import { type ListedMerchant, nextText } from '../broker/listed-merchant.js';
import {
  callReplica,
  placeName,
  type ReplicaAnswer,
  type ReplicaPlace,
  replicaPlaces,
} from '../broker/replica-call.js';
import { type ExitClass, exitCodes } from '../exit-codes.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

interface RenewOptions extends BrokerOptions {
  readonly merchant: string;
}

interface Asked {
  readonly place: ReplicaPlace;
  readonly answer: ReplicaAnswer | string;
}

const ofReason: Readonly<Record<string, ExitClass>> = {
  refused: 'refused',
  revoked: 'refused',
  invalid_response: 'invalidAnswer',
};

/**
 * Has a newer session created now, past the back-off. The first replica that answers is asked; the others share what comes of it.
 * @throws BrokerError `invalid_request` before anything is asked
 */
export async function renew(options: RenewOptions, context: CommandContext): Promise<Report> {
  const { merchant } = options;
  const broker = await brokerPlace(options, context);
  const { place, answer } = await firstAnswer(broker, merchant, context);
  if (typeof answer === 'string') return unreached(place, answer);
  const { status, body } = answer;
  if (status === 200) return renewed(merchant, body);
  const { nameFault } = await import('../broker/named-merchants.js');
  const fault = await nameFault(broker, place, { ...context, merchant, code: said(body['code']) });
  const outlook = status < 500 ? undefined : await outlookOf(broker, { merchant, place }, context);
  return refused(merchant, { place, answer, fault, outlook });
}

/** What follows for payments, and when. Where the caller may not list merchants, what is true of every one. */
async function outlookOf(
  broker: BrokerPlace,
  { merchant, place }: { readonly merchant: string; readonly place: ReplicaPlace },
  { clock, signal }: CommandContext,
): Promise<string> {
  const answer = await callReplica(broker, place, { method: 'GET', path: '/v1/merchants', clock, signal });
  const listed = typeof answer === 'string' ? undefined : answer.body['merchants'];
  const found = Array.isArray(listed)
    ? (listed as readonly ListedMerchant[]).find((one) => one.id === merchant)
    : undefined;
  if (found === undefined) return 'the next attempt comes by itself: session-broker status shows it';
  if (found.state === 'unavailable') return `there is no session; ${nextOf(found, clock.now())}`;
  return `the session that there is is served on until ${String(found.expiresAt)}; ${nextOf(found, clock.now())}`;
}

const nextOf = (merchant: ListedMerchant, nowMs: number): string =>
  nextText(merchant, nowMs).replace(/^attempt /, 'next attempt ');

/** Another is asked only where nothing was asked of the one before: a wish is not made twice. */
async function firstAnswer(broker: BrokerPlace, merchant: string, { clock, signal }: CommandContext): Promise<Asked> {
  const [first, ...others] = await replicaPlaces(broker.urls);
  if (first === undefined) throw new Error('there is at least one URL');
  const path = `/v1/merchants/${encodeURIComponent(merchant)}/session/renewal`;
  const call = { method: 'POST', path, clock, signal } as const;
  const ask = async (place: ReplicaPlace): Promise<Asked> => ({
    place,
    answer: await callReplica(broker, place, call),
  });
  let asked = await ask(first);
  for (const place of others) {
    if (typeof asked.answer !== 'string' || !asked.answer.startsWith('nothing listens there')) break;
    asked = await ask(place);
  }
  return asked;
}

function unreached(place: ReplicaPlace, problem: string): Report {
  return {
    lines: [`not asked   ${placeName(place)}: ${problem}`],
    json: { place: placeName(place), problem },
    exitCode: exitCodes.tryLater,
  };
}

function renewed(merchant: string, body: ReplicaAnswer['body']): Report {
  const { result, generation, expiresAt, clientKeyThumbprint } = body;
  const what = result === 'just_renewed' ? 'is new already: it was created within the last ten seconds' : 'was created';
  return {
    lines: [
      `session     of ${merchant} ${what}`,
      `generation  ${String(generation)}`,
      `expires at  ${String(expiresAt)}`,
      `client key  ${String(clientKeyThumbprint)}`,
    ],
    json: { merchant, result, generation, expiresAt, clientKeyThumbprint },
  };
}

const said = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

interface Refusal {
  readonly place: ReplicaPlace;
  readonly answer: ReplicaAnswer;
  /** What is wrong with the merchant's name. */
  readonly fault: string | undefined;
  readonly outlook: string | undefined;
}

function refused(merchant: string, { place, answer: { status, body }, fault, outlook }: Refusal): Report {
  const [code, reason, cause, detail, title] = ['code', 'reason', 'cause', 'detail', 'title'].map((name) =>
    said(body[name]),
  );
  const why = fault ?? cause ?? detail ?? title ?? 'the answer is not that of a broker';
  return {
    lines: [
      `not renewed ${merchant}: ${why} [HTTP ${status}${code === undefined ? '' : `, ${code}`}]`,
      ...(outlook === undefined ? [] : [outlook]),
    ],
    json: { merchant, place: placeName(place), status, code, reason, cause: why },
    exitCode: exitCodes[classOf(status, reason)],
  };
}

function classOf(status: number, reason: string | undefined): ExitClass {
  if (status < 500 && status !== 429) return status === 400 ? 'invalidInput' : 'refused';
  return ofReason[reason ?? ''] ?? 'tryLater';
}
