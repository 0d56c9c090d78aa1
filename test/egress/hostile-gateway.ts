import type { Socket } from 'node:net';
import { LoopbackServer } from '#libs/testing';
import { openCompact, sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import type { PlayedBroker, PlayedSession } from './played-broker.js';
import { IncomingRequests, type SeenRequest } from './seen-request.js';

export interface Part {
  readonly request: SeenRequest;
  readonly socket: Socket;
  readonly gateway: HostileGateway;
  /** What a well-behaved gateway would answer. */
  readonly good: string;
}

/** What happens to one request. */
export interface Play {
  /** When it begins: on connection, at the head of a request, or at the whole request (the default). */
  readonly on?: 'connection' | 'head' | 'request';
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

/**
 * A gateway on bare sockets, which does to each request what the test has scripted. The first play is for the first
 * request after `script`, and so on; all later ones are answered well. It sees what no HTTP server would show: partial
 * requests, and every header as it was written.
 */
export class HostileGateway {
  seen: SeenRequest[] = [];
  readonly #broker: PlayedBroker;
  #plays: readonly Play[] = [];
  #connectionsAtScript = 0;
  #server: LoopbackServer | undefined;
  readonly #sockets = new Set<Socket>();

  private constructor(broker: PlayedBroker) {
    this.#broker = broker;
  }

  static async before(broker: PlayedBroker): Promise<HostileGateway> {
    const gateway = new HostileGateway(broker);
    gateway.#server = await LoopbackServer.tcp((socket) => gateway.#welcome(socket));
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
    // Otherwise a play that reads nothing would not see the end of its connection.
    for (const socket of this.#sockets) socket.resume();
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

  #welcome(socket: Socket): void {
    const requests = new IncomingRequests();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const play = this.#playOf(this.seen.length);
    if (play.on === 'connection') play.run(this.#part(socket, requests.none));
    socket.on('data', (octets: Buffer) => {
      for (const step of requests.push(octets)) {
        if (step.at === 'head') this.seen.push(step.request);
        this.#step(socket, step);
      }
    });
  }

  #step(socket: Socket, { at, request }: { readonly at: 'head' | 'request'; readonly request: SeenRequest }): void {
    const play = this.#playOf(this.seen.indexOf(request));
    if ((play.on ?? 'request') === at) play.run(this.#part(socket, request));
  }

  #playOf(index: number): Play {
    return this.#plays[index] ?? good;
  }

  #part(socket: Socket, request: SeenRequest): Part {
    const isSealed = request.target.includes('/payments/');
    const body = JSON.stringify(PAID);
    return { request, socket, gateway: this, good: isSealed ? this.sealed(body) : body };
  }
}
