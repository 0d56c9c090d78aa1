import { lookup } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestPlain, type RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP } from 'node:net';
import { type Clock, Deadline } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { exchangeEndOf } from '#libs/outbound';
import { type AnswerMembers, parsedMembers } from './answer.js';
import { type BrokerFault, faultOfAnswer, faultOfSilence, type ReplicaAnswer } from './broker-fault.js';
import type { BrokerPlace } from './broker-place.js';
import { type NoAnswer, noAnswer, type ReplicaPlace } from './no-answer.js';

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * A renewal request waits for a create call, longer than the broker makes anyone wait for one. Reads are answered from
 * memory.
 */
const LIMIT_MS = { GET: 10_000, POST: 30_000 } as const;
/**
 * For connection and handshake: a replica that hangs accepts a connection, since its system does that, but never
 * completes a handshake.
 */
const CONNECT_LIMIT_MS = 4_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Stands for one machine, not for several replicas. */
const LOCAL = 'localhost';

/** @returns each address of each URL, so that a name shared by all replicas leads to every one of them */
export async function replicaPlaces(urls: readonly URL[]): Promise<readonly ReplicaPlace[]> {
  const places = await Promise.all(
    urls.map(async (url) => {
      const addresses = await addressesOf(url);
      return addresses.length < 2 ? [{ url }] : addresses.map((address) => ({ url, address }));
    }),
  );
  return places.flat();
}

/**
 * The call itself reports a name that does not resolve. If both address families are found, only one is used: they lead
 * to the same replicas.
 */
async function addressesOf({ hostname }: URL): Promise<readonly string[]> {
  if (isIP(hostname) !== 0 || hostname.startsWith('[') || hostname === LOCAL) return [];
  const found = await lookup(hostname, { all: true }).catch(() => []);
  const family = found.some((one) => one.family === 4) ? 4 : 6;
  return found.filter((one) => one.family === family).map(({ address }) => address);
}

/** How a place is shown. */
export const placeName = ({ url, address }: ReplicaPlace): string =>
  address === undefined ? url.origin : `${url.origin} (${address})`;

/** What `read` finds in the JSON of a successful answer, or why there is no such answer. */
export function ask<Wanted extends object>(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { read, ...call }: Call & { readonly read: (body: AnswerMembers) => Wanted | undefined },
): Promise<Wanted | BrokerFault> {
  const take = async (response: IncomingMessage): Promise<Wanted | BrokerFault> => {
    const answer = await answerOf(response);
    return (answer.status === 200 ? read(answer.body) : undefined) ?? faultOfAnswer(answer, place, broker);
  };
  return answered(broker, place, { ...call, take });
}

/** A stream of events, which goes on after the limit for an answer; or why there is none. */
export function openStream(
  broker: BrokerPlace,
  place: ReplicaPlace,
  call: Call,
): Promise<IncomingMessage | BrokerFault> {
  const take = async (response: IncomingMessage): Promise<IncomingMessage | BrokerFault> => {
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    if (response.statusCode === 200 && isStream) return response;
    return faultOfAnswer(await answerOf(response), place, broker);
  };
  return answered(broker, place, { ...call, take });
}

async function answered<Wanted>(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { take, ...call }: Call & { readonly take: (response: IncomingMessage) => Promise<Wanted> },
): Promise<Wanted | BrokerFault> {
  const { clock } = call;
  const deadline = new Deadline(clock, LIMIT_MS[call.method], call.signal);
  const { signal } = deadline;
  const silence = (why: NoAnswer): BrokerFault => faultOfSilence(why, place, broker);
  try {
    const token = await broker.token();
    return await take(await respond(broker, place, { ...call, signal, token }));
  } catch (error) {
    if (error instanceof BrokerError) return faultOfToken(error);
    if (!signal.aborted) return silence(await noAnswer(exchangeEndOf(error), place, { clock, signal }));
    const problem = deadline.expired ? 'no answer in time' : 'ended on request';
    return silence({ kind: 'silent', problem, fault: 'tryLater' });
  } finally {
    deadline.close();
  }
}

/** The file of the token has changed since the command began. */
function faultOfToken({ code, message, publicDetail = message }: BrokerError): BrokerFault {
  return { error: { code, message: publicDetail }, fault: 'invalidInput', wasAsked: false };
}

function respond(
  { ca }: BrokerPlace,
  { url, address }: ReplicaPlace,
  { method, path, headers, token, signal, clock }: Call & { readonly token: string | undefined },
): Promise<IncomingMessage> {
  const options = {
    method,
    path: `${url.pathname.replace(/\/+$/, '')}${path}`,
    headers: {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    signal,
    agent: false,
    ...(ca === undefined ? {} : { ca }),
    // The name is still what is asked for and what the certificate must be for: only the way there changes.
    ...(address === undefined ? {} : { lookup: leadingTo(address) }),
  } satisfies RequestOptions & { ca?: string };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestTls : requestPlain)(url, options, resolve);
    boundConnecting(request, url, clock);
    request.on('error', reject).end();
  });
}

/** The mark that undici uses when its own deadline ends a connection, so that both are reported in the same words. */
const NO_CONNECTION = 'UND_ERR_CONNECT_TIMEOUT';

function boundConnecting(request: ClientRequest, { protocol }: URL, clock: Clock): void {
  const task = clock.schedule(CONNECT_LIMIT_MS, () =>
    request.destroy(Object.assign(new Error('no connection in time'), { code: NO_CONNECTION })),
  );
  request.once('socket', (socket) =>
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => task.cancel()),
  );
  request.once('close', () => task.cancel());
}

function leadingTo(address: string): NonNullable<RequestOptions['lookup']> {
  const family = isIP(address);
  return (_name, { all }, done) => {
    if (all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

async function answerOf(response: IncomingMessage): Promise<ReplicaAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: parsedMembers(Buffer.concat(chunks).toString()) };
}
