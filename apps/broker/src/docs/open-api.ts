import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { withHeaders } from './answer-headers.js';

export const OPEN_API_PATH = '/openapi.json';
export const DOCS_PATH = '/docs';

/** The contract, generated from the controllers. */
export function openApiDocument(app: NestFastifyApplication): OpenAPIObject {
  const document = new DocumentBuilder()
    .setTitle('Session broker')
    .setDescription(
      'The current technical session of each merchant, kept fresh for every service that needs it. Every answer has ' +
        'an `x-request-id`: the one that was sent, or a new one.',
    )
    .addTag('merchants', 'What the caller may read, and its state.')
    .addTag('sessions', 'The session of a merchant: read, followed, rejected.')
    .addTag('payloads', 'Payloads sealed to the gateway, and opened with the key that never leaves the broker.')
    .addTag('notifications', 'Notifications of the gateway, opened and checked.')
    .setVersion('1')
    .addServer('http://127.0.0.1:8080', 'npm start')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth()
    .build();
  return withHeaders(SwaggerModule.createDocument(app, document));
}

/** Serves the contract and pages to read it. They hold no secret and need no credential; built on the first request. */
export function serveOpenApi(app: NestFastifyApplication): void {
  SwaggerModule.setup(DOCS_PATH, app, () => openApiDocument(app), {
    jsonDocumentUrl: OPEN_API_PATH,
    yamlDocumentUrl: '',
  });
}

export function isDocumentation(path: string): boolean {
  return path === OPEN_API_PATH || path === DOCS_PATH || path.startsWith(`${DOCS_PATH}/`);
}
