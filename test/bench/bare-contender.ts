import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#libs/testing';
import { BenchBroker } from './bench-broker.js';
import { BenchProcess, untilOk } from './bench-process.js';

/** The servers share one processor, in turns; the load comes from the other. */
export const SERVER_CPU = 0;

export interface BareContender {
  readonly server: BenchProcess;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A bare node:http server that sends the same bytes as the broker at this address, on the broker's processor. */
export async function startBare(
  folder: string,
  brokerUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<BareContender> {
  const answer = await untilOk(brokerUrl, BenchBroker.headers);
  const {
    date: _date,
    connection: _connection,
    'keep-alive': _keepAlive,
    ...headers
  } = Object.fromEntries(answer.headers);
  const file = join(folder, 'answer.json');
  await writeFile(file, JSON.stringify({ headers, body: await answer.text() }));
  const port = await freePort();
  const program = join(import.meta.dirname, 'bare-server.js');
  const server = new BenchProcess([process.execPath, program, String(port), file], { cpu: SERVER_CPU, env });
  const url = `http://127.0.0.1:${port}/`;
  await untilOk(url);
  return { server, url, headers: BenchBroker.headers };
}
