import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { LoopbackServer, TestAuthority } from '#libs/testing';

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
}

/** Headers of one connection: the next has its own. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);

/** A gateway behind TLS, as a bank has it: records the requests, and has a sandbox answer them. */
export class RecordingGateway {
  readonly #authority = new TestAuthority();
  readonly received: ReceivedRequest[] = [];
  readonly #sandboxUrl: string;
  #server: LoopbackServer | undefined;

  private constructor(sandboxUrl: string) {
    this.#sandboxUrl = sandboxUrl;
  }

  static async start(sandboxUrl: string): Promise<RecordingGateway> {
    const gateway = new RecordingGateway(sandboxUrl);
    const certificate = gateway.#authority.issue({ names: ['localhost'] });
    gateway.#server = await LoopbackServer.https(certificate, (request, response) => {
      void gateway.#answer(request, response);
    });
    return gateway;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  /** The certificate of its authority, in PEM. */
  get authority(): string {
    return this.#authority.cert;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers, rawHeaders } = request;
    // What breaks off in the middle is not a request, and nobody waits for its answer.
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    this.received.push({ method, url, headers, rawHeaders });
    const passedOn = Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name)) as [string, string][];
    const answer = await fetch(this.#sandboxUrl + url, {
      method,
      headers: passedOn,
      ...(body.length === 0 ? {} : { body: Uint8Array.from(body) }),
    });
    const type = answer.headers.get('content-type') ?? 'text/plain';
    response.writeHead(answer.status, { 'content-type': type, 'set-cookie': 'firewall=1' });
    response.end(await answer.text());
  }
}
