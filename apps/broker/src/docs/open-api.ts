import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import * as swagger from '@nestjs/swagger';
import { applyDescriptions, DOCS_PATH, OPEN_API_PATH } from './api-decorators.js';
import { withHeaders } from './route-documents.js';

@Module({})
class PagesModule {}

/**
 * An app that has the contract and the pages for reading it, and listens nowhere: requests are passed to its server.
 */
export async function documentationOf(app: NestFastifyApplication): Promise<NestFastifyApplication> {
  const pages = await NestFactory.create<NestFastifyApplication>(PagesModule, new FastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
  swagger.SwaggerModule.setup(DOCS_PATH, pages, () => openApiDocument(app), {
    jsonDocumentUrl: OPEN_API_PATH,
    yamlDocumentUrl: '',
  });
  await pages.init();
  await pages.getHttpAdapter().getInstance().ready();
  return pages;
}

/** The contract, generated from the controllers. */
function openApiDocument(app: NestFastifyApplication): swagger.OpenAPIObject {
  applyDescriptions(swagger);
  const document = new swagger.DocumentBuilder()
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
  return withHeaders(swagger.SwaggerModule.createDocument(app, document, { autoTagControllers: false }));
}
