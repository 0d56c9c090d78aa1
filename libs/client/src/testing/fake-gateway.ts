import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject, parsedJson } from '../json.js';
import type { GatewayOptions } from '../options.js';
import type { FakeBroker } from './fake-broker.js';
import { FakeServer } from './fake-server.js';

/** A request that the fake gateway accepted: its session was alive, and its body could be read. */
export interface FakeGatewayRequest {
  readonly path: string;
  /** What was sent, opened if it was sealed. */
  readonly sent: JsonObject;
  readonly isSealed: boolean;
  /** Of the session that it came with. */
  readonly generation: number;
}

/**
 * What an operation answers: an object, sealed if the request was, in clear if it has a `msgCode`; a `Response` as it
 * is; or nothing: the connection is cut, or nothing is ever sent.
 */
export type FakeOutcome = object | Response | 'disconnect' | 'silence';
export type FakeOperation = (request: FakeGatewayRequest) => FakeOutcome | Promise<FakeOutcome>;

const UNREADABLE = { msgCode: 'b_encryptor_failed_decrypt_message', msgType: 'ERROR' };
const dead = (msgCode: string): Response => Response.json({ msgCode, msgType: 'ERROR' }, { status: 401 });

/**
 * The bank's gateway behind a `FakeBroker`, for a service's tests: it accepts only the broker's newest session and what
 * is sealed to its key, and answers as the test scripts it.
 */
export class FakeGateway extends FakeServer {
  /** What came with a live session, in order. */
  readonly requests: FakeGatewayRequest[] = [];
  readonly #broker: FakeBroker;
  readonly #operations = new Map<string, FakeOperation>();
  #ended = { generation: 0, msgCode: '' };

  private constructor(server: Server, broker: FakeBroker) {
    super(server);
    this.#broker = broker;
  }

  /** Resolves once it listens. */
  static async start(broker: FakeBroker): Promise<FakeGateway> {
    return new FakeGateway(await FakeServer.listening(), broker);
  }

  /** The option `gateway` of a `SessionBroker`. */
  get options(): GatewayOptions {
    return { url: this.url };
  }

  /** Scripts the operation at a path, or scripts it anew; at any other path there is a page with 404. */
  on(path: string, operation: FakeOperation): this {
    this.#operations.set(path, operation);
    return this;
  }

  /** From now on, the session is dead, and so are those before it. */
  endSession(msgCode = 'b_session_doesnt_exist'): void {
    this.#ended = { generation: this.#broker.session?.generation ?? 0, msgCode };
  }

  protected override async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const outcome = await this.#outcome(request).catch((error: unknown) => {
      process.emitWarning(`An operation of the fake gateway threw: ${String(error)}`);
      return 'disconnect' as const;
    });
    if (outcome === 'silence') return;
    if (outcome === 'disconnect') return void request.socket.destroy();
    const { status, headers } = outcome;
    response.writeHead(status, Object.fromEntries(headers)).end(await outcome.text());
  }

  async #outcome(request: IncomingMessage): Promise<Response | 'disconnect' | 'silence'> {
    const path = request.url ?? '';
    const body = (await request.setEncoding('utf8').toArray()).join('');
    const session = this.#broker.session;
    const isNewest = session !== undefined && request.headers['x-device_id'] === session.deviceId;
    if (!isNewest) return dead('b_session_doesnt_exist');
    if (session.generation <= this.#ended.generation) return dead(this.#ended.msgCode);
    const operation = this.#operations.get(path);
    if (operation === undefined) return new Response(`<p>No operation at ${path}`, { status: 404 });
    const isSealed = request.headers['content-type'] === 'text/plain';
    const sent = parsedJson((isSealed ? await this.#broker.opened(body, session.generation) : body) ?? '');
    if (!isJsonObject(sent)) return Response.json(UNREADABLE);
    const asked = { path, sent, isSealed, generation: session.generation };
    this.requests.push(asked);
    return this.#answerOf(await operation(asked), isSealed);
  }

  async #answerOf(outcome: FakeOutcome, isSealed: boolean): Promise<Response | 'disconnect' | 'silence'> {
    if (typeof outcome === 'string' || outcome instanceof Response) return outcome;
    const isInClear = !isSealed || 'msgCode' in outcome;
    return Response.json(isInClear ? outcome : { jwe: await this.#broker.sealedAnswer(outcome) });
  }
}
