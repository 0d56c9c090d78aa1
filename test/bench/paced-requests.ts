import { Agent, request as sendRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface PacedRequests {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Requests at a steady pace, whether or not earlier ones have been answered.
 * @returns how long each took, in milliseconds
 * @throws Error at an answer that is not 200
 */
export async function timesOf({ perSecond, seconds, ...request }: PacedRequests): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true });
  const sent: Promise<number>[] = [];
  const startedMs = performance.now();
  while (sent.length < perSecond * seconds) {
    // Paced by the clock, not by the pauses: a late timer does not slow the requests down.
    const due = Math.floor(((performance.now() - startedMs) * perSecond) / 1_000);
    if (sent.length < due) sent.push(once(request, agent));
    await pause(1);
  }
  try {
    return await Promise.all(sent);
  } finally {
    agent.destroy();
  }
}

function once({ url, headers, body }: Pick<PacedRequests, 'url' | 'headers' | 'body'>, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = sendRequest(url, { method: 'POST', agent, headers: { ...headers, ...length } }, (response) => {
      const ended = (): void =>
        response.statusCode === 200
          ? resolve(performance.now() - startedAt)
          : reject(new Error(`${url} answered ${response.statusCode}`));
      response.resume().on('end', ended);
    });
    request.on('error', reject).end(body);
  });
}
