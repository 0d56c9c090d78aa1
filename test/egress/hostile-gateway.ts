import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LoopbackServer } from '#libs/testing';
import { openCompact, sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import type { Answer } from './callers.js';
import type { PlayedBroker, PlayedSession } from './played-broker.js';

/** A request as it was sent, every header as it was written. */
export class SeenRequest {
  readonly #request: IncomingMessage;
  readonly #octets: Buffer[] = [];

  constructor(request: IncomingMessage) {
    this.#request = request.on('data', (octets: Buffer) => void this.#octets.push(octets));
    // That it broke off is seen by whether it is whole.
    request.on('error', () => undefined);
  }

  get target(): string {
    return this.#request.url ?? '';
  }

  get body(): Buffer {
    return Buffer.concat(this.#octets);
  }

  get isWhole(): boolean {
    return this.#request.complete;
  }

  /** Every value of a header, in the order in which they were sent. */
  valuesOf(name: string): readonly string[] {
    return this.#request.headersDistinct[name] ?? [];
  }

  /** In lower case. */
  get headerNames(): readonly string[] {
    return Object.keys(this.#request.headersDistinct);
  }

  /** Everything that was sent, for searching. */
  get text(): string {
    const { method, rawHeaders } = this.#request;
    return [`${method} ${this.target}`, ...rawHeaders, this.body.toString('latin1')].join('\n');
  }
}

export interface Part {
  readonly request: SeenRequest;
  readonly socket: Socket;
  readonly gateway: HostileGateway;
  /** What a well-behaved gateway would answer. */
  readonly good: string;
}

/** What happens to one request. */
export interface Play {
  /** When it begins: at the head of a request, or at the whole request (the default). */
  readonly on?: 'head' | 'request';
  run(part: Part): void;
}

export const PAID = { status: 'PAID', coinAmount: 12_500 };

/** Answers as a gateway should. */
export const good: Play = { run: ({ socket, good: body }) => void socket.write(answer(200, body)) };

/** A complete JSON answer. */
export function answer(status: number, body: string, headers: readonly string[] = []): string {
  const lines = [
    `HTTP/1.1 ${status} Some reason`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** The body of an error of the bank. */
export const errorBody = (msgCode: string, msgText = 'T'): string =>
  JSON.stringify({ requestId: 'r', serviceId: 's', msgCode, msgType: 'ERROR', msgText, isLocalized: false });

/** Answers with this. */
export const refusing = (status: number, body: string, headers: readonly string[] = []): Play => ({
  run: ({ socket }) => void socket.write(answer(status, body, headers)),
});

/** What the gateway answered, in the clear. */
export interface SentAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * What a caller got, in a few words: `good`: the payment's answer; `as sent`: what the gateway sent; `502 answer_lost`
 * and the like: an answer by the egress itself; `cut`: a connection that ended before its answer did.
 */
export function outcomeOf(given: Answer, sent?: SentAnswer): string {
  if (given.isCut) return 'cut';
  if (given.status === 200 && given.text === JSON.stringify(PAID)) return 'good';
  if (sent !== undefined && given.status === sent.status && given.text === sent.body) return 'as sent';
  return `${given.status} ${given.code ?? given.text.slice(0, 200)}`;
}

/**
 * A gateway that answers octet by octet, and does to each request what the test has scripted. The first play is for the
 * first request after `script`, and so on; all later ones are answered well.
 */
export class HostileGateway {
  seen: SeenRequest[] = [];
  /** Every connection is reset as it opens. */
  isClosedToAll = false;
  readonly #broker: PlayedBroker;
  #plays: readonly Play[] = [];
  #connectionsAtScript = 0;
  #server: LoopbackServer | undefined;

  private constructor(broker: PlayedBroker) {
    this.#broker = broker;
  }

  static async before(broker: PlayedBroker): Promise<HostileGateway> {
    const gateway = new HostileGateway(broker);
    // Only reads: what is answered goes to the socket itself.
    const reader = createServer((request) => gateway.#heard(request));
    gateway.#server = await LoopbackServer.tcp((socket) => {
      if (gateway.isClosedToAll) return void socket.resetAndDestroy();
      reader.emit('connection', socket);
    });
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port}`;
  }

  /** Connections since the last `script`. */
  get connections(): number {
    return (this.#server?.connections ?? 0) - this.#connectionsAtScript;
  }

  get openConnections(): number {
    return this.#server?.openConnections ?? 0;
  }

  /** Sets what to do with the next requests; forgets those that were seen, and closes what they have left open. */
  async script(...plays: readonly Play[]): Promise<void> {
    await this.dropConnections();
    this.seen = [];
    this.#plays = plays;
    this.#connectionsAtScript = this.#server?.connections ?? 0;
  }

  /** Closes every connection, as a gateway does with idle ones. */
  async dropConnections(): Promise<void> {
    await this.#server?.dropConnections();
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  sessionOf(request: SeenRequest): PlayedSession | undefined {
    return this.#broker.sessionOf(request.valuesOf('x-device_id')[0] ?? '');
  }

  /** What a sealed body contains; it must be sealed to the very session that the headers name. */
  plaintextOf(request: SeenRequest): string {
    const session = this.sessionOf(request);
    if (session === undefined) throw new Error('the request names no session');
    return openCompact(request.body.toString('latin1'), session.serverKey).toString('utf8');
  }

  sealed(plaintext: string): string {
    return JSON.stringify({ jwe: sealCompact(plaintext, this.#broker.merchantKey) });
  }

  #heard(incoming: IncomingMessage): void {
    const request = new SeenRequest(incoming);
    const play = this.#plays[this.seen.length] ?? good;
    this.seen.push(request);
    const body = JSON.stringify(PAID);
    const { socket } = incoming;
    const part = {
      ...{ request, socket, gateway: this as HostileGateway },
      good: request.target.includes('/payments/') ? this.sealed(body) : body,
    };
    if (play.on === 'head') play.run(part);
    else incoming.on('end', () => play.run(part));
  }
}
