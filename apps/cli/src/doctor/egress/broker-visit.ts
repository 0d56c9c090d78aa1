import { type Clock, Deadline } from '#libs/clock';
import { type EgressConfiguration, readTextFile, tokenFault } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { exchangeEndOf, fetchThrough, type OutboundConnections } from '#libs/outbound';
import { parsedMembers } from '../../broker/answer.js';
import { isWrongAddress } from '../../broker/broker-fault.js';
import { noAnswer, type NoAnswer } from '../../broker/no-answer.js';
import { fault, type Finding, looked, type Verdict } from '../check.js';

/** As much of a broker's answer as is looked at. */
export interface BrokerAnswer {
  readonly status: number;
  /** The JSON of the answer; an empty object if it has none. */
  readonly body: Readonly<Record<string, unknown>>;
}

interface Question {
  readonly path: string;
  readonly signal: AbortSignal;
  /** Makes it a POST. */
  readonly body?: object;
}

export interface BrokerTools {
  readonly clock: Clock;
  readonly connections: OutboundConnections;
}

/** Time limit for one answer; longer than the broker makes a caller wait for a session. */
export const BROKER_LIMIT_MS = 15_000;

/**
 * The broker, called the way the egress calls it: with its token or certificate, and the authorities that it trusts.
 */
export class BrokerVisit {
  readonly #broker: EgressConfiguration['broker'];
  readonly #tools: BrokerTools;

  constructor(broker: EgressConfiguration['broker'], tools: BrokerTools) {
    this.#broker = broker;
    this.#tools = tools;
  }

  get host(): string {
    return this.#broker.url.host;
  }

  /** @throws Error of the network, which `asBrokerFault` describes */
  async ask({ path, signal, body }: Question): Promise<BrokerAnswer> {
    const { tls, url } = this.#broker;
    const { ca, cert, key } = tls;
    const settings = {
      tls: { pins: [], ...(ca === undefined ? {} : { ca }) },
      ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    };
    const deadline = new Deadline(this.#tools.clock, BROKER_LIMIT_MS, signal);
    const base = url.href.replace(/\/$/, '');
    try {
      const answer = await fetchThrough(this.#tools.connections, settings)(`${base}${path}`, {
        headers: { accept: 'application/json', ...(await this.#credential()), ...jsonType(body) },
        redirect: 'manual',
        signal: deadline.signal,
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: parsedMembers(await answer.text()) };
    } finally {
      deadline.close();
    }
  }

  /**
   * Why a question got no answer.
   * @param error what `ask` threw
   */
  whyNot(error: unknown, signal: AbortSignal): Promise<NoAnswer> {
    // The error that fetch throws says nothing by itself, only its cause does.
    const end = exchangeEndOf(error instanceof TypeError ? error.cause : error);
    return noAnswer(end, { url: this.#broker.url }, { clock: this.#tools.clock, signal });
  }

  async #credential(): Promise<Readonly<Record<string, string>>> {
    const { tokenFile } = this.#broker;
    if (tokenFile === undefined) return {};
    return { authorization: `Bearer ${await textOf(tokenFile)}` };
  }
}

const MAX_TOKEN_BYTES = 65_536;

/** @throws BrokerError `key_file_invalid` before anything is sent */
async function textOf(tokenFile: string): Promise<string> {
  const found = await readTextFile(tokenFile, MAX_TOKEN_BYTES);
  const token = found.kind === 'text' ? found.text.trim() : '';
  const problem = found.kind === 'text' ? tokenFault(token) : found.problem;
  if (problem !== undefined) throw new BrokerError('key_file_invalid', { detail: `which ${problem}` });
  return token;
}

const jsonType = (body: object | undefined): Readonly<Record<string, string>> =>
  body === undefined ? {} : { 'content-type': 'application/json' };

interface Looking {
  readonly visit: BrokerVisit;
  readonly signal: AbortSignal;
}

const remedies: Readonly<Partial<Record<NoAnswer['fault'], string>>> = {
  refused: 'compare broker.url and broker.tls.caFile',
  invalidInput: 'see scheme and port in broker.url',
};

/** The verdict of `look`; a broker that cannot be reached is a fault, classed by what is in the way. */
export async function asBrokerFault({ visit, signal }: Looking, look: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'key_file_invalid') {
      return { kind: 'not_run', reason: `it needs broker.tokenFile, ${error.detail}` };
    }
    const { problem, fault: kind } = await visit.whyNot(error, signal);
    return looked([fault(kind, problem, remedies[kind] ?? 'see whether broker.url leads to it from here')]);
  }
}

/** What an unexpected answer says, with the broker's own code. */
export function unwished(answer: BrokerAnswer, what: string): Finding {
  const { code, reason, detail } = answer.body;
  const said = typeof detail === 'string' ? `: ${detail}` : '';
  const marks = [`HTTP ${answer.status}`, ...[code, reason].filter((mark) => typeof mark === 'string')].join(', ');
  const message = `${what}${said} [${marks}]`;
  if (isWrongAddress(answer)) return fault('invalidInput', message, 'see host, port and path in broker.url');
  // A broker that refuses always says so with a code.
  const remedy = typeof code === 'string' ? 'docs/errors.md says what to do' : 'see host and port in broker.url';
  return fault(answer.status >= 500 || answer.status === 429 ? 'tryLater' : 'refused', message, remedy);
}
