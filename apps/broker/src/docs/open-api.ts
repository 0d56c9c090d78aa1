import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

export const OPEN_API_PATH = '/openapi.json';
export const DOCS_PATH = '/docs';

/** The contract, generated from the controllers. */
export function openApiDocument(app: NestFastifyApplication): OpenAPIObject {
  const document = new DocumentBuilder()
    .setTitle('Session broker')
    .setDescription('The current technical session of each merchant, kept fresh for every service that needs it.')
    .setVersion('1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth()
    .build();
  return SwaggerModule.createDocument(app, document);
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
