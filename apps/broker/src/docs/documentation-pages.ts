import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { DOCS_PATH, OPEN_API_PATH } from './api-decorators.js';

export function isDocumentation(path: string): boolean {
  return path === OPEN_API_PATH || path === DOCS_PATH || path.startsWith(`${DOCS_PATH}/`);
}

/**
 * Serves the contract and pages for reading it. They contain no secrets and need no credential. Built on the first
 * request: what builds them is a sixth of the program, and most replicas are never asked.
 */
export function serveDocumentation(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  let made: Promise<NestFastifyApplication> | undefined;
  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    made ??= import('./open-api.js').then(({ documentationOf }) => documentationOf(app));
    const pages = await made;
    const { method, url, headers } = request;
    const page = await pages
      .getHttpAdapter()
      .getInstance()
      .inject({ method: method as 'GET', url, headers });
    if (page.statusCode >= 400) throw new BrokerError('route_not_found');
    // Whether the connection goes on is for the server that has one.
    const { connection: _ofNone, 'transfer-encoding': _whole, ...its } = page.headers;
    await reply.status(page.statusCode).headers(its).send(page.rawPayload);
  };
  for (const path of [OPEN_API_PATH, DOCS_PATH, `${DOCS_PATH}/*`]) server.get(path, handle);
  server.addHook('onClose', async () => {
    await (await made)?.close();
  });
}
