import { readFile } from 'node:fs/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type Clock, Deadline } from '#libs/clock';
import type { JwtConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { trustOptions } from '#libs/outbound';

type Place = Extract<JwtConfiguration['keys'], { kind: 'uri' }>;

const TIMEOUT_MS = 5_000;
const MAX_SET_BYTES = 262_144;
const MAX_HEADER_BYTES = 16_384;

/**
 * Fetches a JSON Web Key Set: one GET, no redirect, bounded in time and size, the certificate verified.
 * @throws BrokerError `authentication_unavailable`, whose detail says what was wrong, and nothing of the token
 */
export async function fetchKeySet(place: Place, clock: Clock): Promise<object> {
  const deadline = new Deadline(clock, TIMEOUT_MS);
  try {
    const text = await textOf(await answerOf(place, deadline.signal));
    const set: unknown = JSON.parse(text);
    if (typeof set === 'object' && set !== null) return set;
    throw new BrokerError('authentication_unavailable', { detail: 'the issuer answered with no key set' });
  } catch (error) {
    if (error instanceof BrokerError) throw error;
    throw new BrokerError('authentication_unavailable', { detail: `the key set did not come: ${reasonOf(error)}` });
  } finally {
    deadline.close();
  }
}

async function answerOf({ uri, tokenFile, ca }: Place, signal: AbortSignal): Promise<IncomingMessage> {
  const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim();
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  // A connection of its own each time: the request is made a few times an hour.
  const options = {
    headers,
    signal,
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    ...trustOptions({ pins: [], ...(ca === undefined ? {} : { ca }) }),
  };
  const request = uri.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    request(uri, options, resolve).on('error', reject).end();
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  if (answer.statusCode !== 200) {
    answer.destroy();
    throw new BrokerError('authentication_unavailable', { detail: `the issuer answered ${answer.statusCode}` });
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_SET_BYTES) {
      throw new BrokerError('authentication_unavailable', { detail: 'the issuer answered with too much' });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The system's error code names the fault; a parser's message would quote what came. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
