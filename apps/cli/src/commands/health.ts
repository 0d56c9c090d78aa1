import { get } from 'node:http';
import { type Clock, Deadline } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { exitCodes } from '../exit-codes.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

export const LIVENESS_URL = 'http://127.0.0.1:9464/livez';

const DEADLINE_MS = 2_000;

interface HealthOptions {
  /** The URL of `/livez` or `/readyz` on a management port. */
  readonly url: string;
}

/**
 * Asks a running broker for its health, for platforms that run a command inside the container. It needs no shell, no
 * configuration and no secret.
 * @throws BrokerError `invalid_request` if it is not an http URL
 */
export async function health({ url }: HealthOptions, { clock, signal }: CommandContext): Promise<Report> {
  const asked = URL.parse(url);
  if (asked?.protocol !== 'http:') {
    throw new BrokerError('invalid_request', { detail: `give an http URL, such as ${LIVENESS_URL}` });
  }
  const answer = await statusOf(asked, { clock, signal });
  const ok = answer === 200;
  const said = typeof answer === 'number' ? `answers ${answer}` : `does not answer (${answer})`;
  return {
    lines: [`${asked.href} ${said}`],
    json: { url: asked.href, ...(typeof answer === 'number' ? { status: answer } : { problem: answer }) },
    exitCode: ok ? exitCodes.ok : exitCodes.tryLater,
  };
}

/** The status, or in a word why there is none. The body is for people, and is not read. */
async function statusOf(url: URL, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<number | string> {
  const deadline = new Deadline(clock, DEADLINE_MS, signal);
  try {
    return await new Promise<number | string>((resolve) => {
      const request = get(url, { agent: false, signal: deadline.signal }, (response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      });
      request.on('error', (error) => resolve('code' in error ? String(error.code) : error.name));
    });
  } finally {
    deadline.close();
  }
}
