import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';

export interface TlsCall extends Pick<AgentOptions, 'ca' | 'cert' | 'key'> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Is sent by POST. */
  readonly body?: object;
}

export interface TlsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** One call on a connection of its own, with a client certificate, which `fetch` does not have. */
export async function callTls(url: string, { headers = {}, body, ...tls }: TlsCall): Promise<TlsAnswer> {
  const agent = new Agent(tls);
  try {
    return await new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const calling = request(url, { agent, method, headers }, (response) => {
        const { statusCode: status = 0 } = response;
        const answerOf = (said: string): TlsAnswer => ({
          ...{ status, headers: response.headers },
          body: JSON.parse(said) as TlsAnswer['body'],
        });
        text(response).then(answerOf).then(resolve, reject);
      });
      calling.on('error', reject).end(body && JSON.stringify(body));
    });
  } finally {
    agent.destroy();
  }
}
