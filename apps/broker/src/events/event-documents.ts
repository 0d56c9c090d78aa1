import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { GenerationProperty } from '../docs/generation-property.js';
import { SessionDocument } from '../sessions/session-document.js';

/** One event, by the names of its fields. */
export class SessionEventDocument {
  @ApiProperty({ enum: ['session'] })
  readonly event: string;

  @GenerationProperty({ description: 'The generation of the session, in decimal. Send it as `Last-Event-ID`.' })
  readonly id: number;

  @ApiProperty({ type: SessionDocument, description: 'The session, as JSON in one line.' })
  readonly data: SessionDocument;
}

/** A stream is the sequence of its events, as in later versions of OpenAPI. */
export const EVENT_STREAM = {
  type: 'array',
  items: { $ref: getSchemaPath(SessionEventDocument) },
  description: 'The events, one after the other. Comments and the field `retry` are not events.',
} as const;
