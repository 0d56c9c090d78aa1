import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { RequestRefused, SessionBroker } from '@session-broker/client';

function setting(name: string, what: string, form: RegExp): string {
  const value = process.env[name]?.trim() ?? '';
  if (!form.test(value)) throw new Error(`set ${name}: ${what}`);
  return value;
}
const url = setting('BROKER_URL', 'it begins with http:// or https://', /^https?:\/\/[^\s/]\S*$/);
const TOKEN = 'the token by which the broker knows the caller, with no space and no line break in it';
const broker = new SessionBroker({ url, merchant: 'shop', auth: setting('BROKER_TOKEN', TOKEN, /^\S+$/) });

async function receive(request: IncomingMessage): Promise<number> {
  try {
    const received = { headers: request.headers, body: await text(request) };
    const { kind, content } = await broker.openNotification(received);
    const { operation = content } = content as { operation?: unknown };
    const { ecomOperationId, status } = operation as Record<string, unknown>;
    // Write it down here.
    console.log(`${kind} ${String(ecomOperationId)} is ${String(status)}`);
    return 200;
  } catch (error) {
    console.log(`not opened: ${(error as Error).message}`);
    return error instanceof RequestRefused ? 400 : 503;
  }
}

const server = createServer((request, response) => {
  void receive(request).then((status) => response.writeHead(status).end());
});
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () =>
  console.log(`port ${(server.address() as AddressInfo).port}`),
);
