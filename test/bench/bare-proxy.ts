import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent } from 'undici';

/**
 * Passes on every request and every answer without looking at them: the least that a proxy of node:http and undici
 * costs. It keeps connections as the egress does. Arguments: port, URL of the gateway.
 */
const [port, gateway = ''] = process.argv.slice(2);
const agent = new Agent({ pipelining: 1, connections: 64, keepAliveTimeout: 4_000, keepAliveMaxTimeout: 30_000 });

async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { connection: _connection, host: _host, ...headers } = request.headers;
  const { method = 'GET', url: path = '/' } = request;
  await agent.stream({ origin: gateway, path, method, headers, body: request }, (answer) => {
    const { connection: _ofGateway, 'keep-alive': _keepAlive, ...kept } = answer.headers;
    return response.writeHead(answer.statusCode, kept);
  });
}

createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  pass(request, response).catch((error: unknown) => response.destroy(error as Error));
}).listen(Number(port), '127.0.0.1');
