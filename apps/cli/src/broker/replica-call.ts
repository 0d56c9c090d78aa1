import { lookup } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestPlain, type RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP } from 'node:net';
import { type Clock, Deadline } from '#libs/clock';
import { exchangeEndOf } from '#libs/outbound';
import { bearer } from './accepted-token.js';
import { membersOf } from './answer-members.js';
import type { BrokerPlace } from './broker-place.js';
import { askFaultCodes, type NoAnswer, noAnswer, noHandshake, tlsInstead } from './exchange-cause.js';

/** One address at which a broker may answer: a name with several addresses leads to one replica each. */
export interface ReplicaPlace {
  readonly url: URL;
  readonly address?: string;
}

export interface ReplicaAnswer {
  readonly status: number;
  /** The JSON of the answer; an empty object if it has none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The code that a broker gives to what it refuses; undefined if the answer has none. */
export const ownCodeOf = ({ body: { code } }: ReplicaAnswer): string | undefined =>
  typeof code === 'string' ? code : undefined;

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Replaces the usual limit if the caller wants whatever is known by then. */
  readonly limitMs?: number;
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
    urls.map(async (url) => (await addressesOf(url)).map((address) => ({ url, address }))),
  );
  return places.flat().map(({ url, address }) => (address === undefined ? { url } : { url, address }));
}

/**
 * The call itself reports a name that does not resolve. If both address families are found, only one is used: they lead
 * to the same replicas.
 */
async function addressesOf({ hostname }: URL): Promise<readonly (string | undefined)[]> {
  if (isIP(hostname) !== 0 || hostname.startsWith('[') || hostname === LOCAL) return [undefined];
  const found = await lookup(hostname, { all: true }).catch(() => []);
  const family = found.some((one) => one.family === 4) ? 4 : 6;
  const addresses = found.filter((one) => one.family === family).map(({ address }) => address);
  return addresses.length < 2 ? [undefined] : addresses;
}

/** How a place is shown. */
export function placeName({ url, address }: ReplicaPlace): string {
  return address === undefined ? url.origin : `${url.origin} (${address})`;
}

/**
 * The answer, or why there is none.
 * @throws BrokerError if there is no longer a token to send
 */
export async function callReplica(
  broker: BrokerPlace,
  place: ReplicaPlace,
  call: Call,
): Promise<ReplicaAnswer | NoAnswer> {
  const authorization = bearer(await broker.token());
  const headers = {
    accept: 'application/json',
    ...(authorization === undefined ? {} : { authorization }),
  };
  const deadline = new Deadline(call.clock, call.limitMs ?? LIMIT_MS[call.method], call.signal);
  const { signal } = deadline;
  try {
    const { method, path, clock } = call;
    const answer = await exchange(broker, place, { method, path, headers, signal, clock });
    return (await tlsInstead({ httpStatus: answer.status }, place, { clock: call.clock, signal })) ?? answer;
  } catch (error) {
    if (error instanceof NoHandshake) return noHandshake(place);
    if (!signal.aborted) return await noAnswer(exchangeEndOf(error), place, { clock: call.clock, signal });
    const ofSilence = { code: askFaultCodes.silent, fault: 'tryLater' } as const;
    return deadline.expired
      ? { ...ofSilence, problem: 'no answer in time', isHung: true }
      : { ...ofSilence, problem: 'ended on request' };
  } finally {
    deadline.close();
  }
}

type Asked = Required<Pick<RequestOptions, 'method' | 'path' | 'headers' | 'signal'>> & Pick<Call, 'clock'>;

function exchange(
  { ca }: BrokerPlace,
  { url, address }: ReplicaPlace,
  { clock, ...asked }: Asked,
): Promise<ReplicaAnswer> {
  const base = url.pathname.replace(/\/+$/, '');
  const options = {
    ...asked,
    path: `${base}${asked.path ?? ''}`,
    agent: false,
    ...(ca === undefined ? {} : { ca }),
    // The name is still what is asked for and what the certificate must be for: only the way there changes.
    ...(address === undefined ? {} : { lookup: leadingTo(address) }),
  } satisfies RequestOptions & { ca?: string };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestTls : requestPlain)(url, options, (response) => {
      readBody(response).then((text) => resolve({ status: response.statusCode ?? 0, body: membersOf(text) }), reject);
    });
    boundConnecting(request, url, clock);
    request.on('error', reject).end();
  });
}

/** The mark that undici uses when its own deadline ends a connection, so that both are reported in the same words. */
const NO_CONNECTION = 'UND_ERR_CONNECT_TIMEOUT';

/** There was a connection but no handshake, so nothing was asked. */
class NoHandshake extends Error {}

function boundConnecting(request: ClientRequest, { protocol }: URL, clock: Clock): void {
  let isConnected = false;
  const task = clock.schedule(CONNECT_LIMIT_MS, () =>
    request.destroy(
      isConnected ? new NoHandshake() : Object.assign(new Error('no connection in time'), { code: NO_CONNECTION }),
    ),
  );
  const isThere = protocol === 'https:' ? 'secureConnect' : 'connect';
  request.once('socket', (socket) => {
    socket.once('connect', () => (isConnected = true));
    socket.once(isThere, () => task.cancel());
  });
  request.once('close', () => task.cancel());
}

function leadingTo(address: string): NonNullable<RequestOptions['lookup']> {
  const family = isIP(address);
  return (_name, { all }, done) => {
    if (all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
