import { ApiProperty, schemaPathOf } from '../docs/api-decorators.js';
import { GenerationProperty } from '../docs/generation-property.js';
import { SessionDocument } from '../sessions/session-document.js';
import { HandoverNotice } from './handover-notice.js';

/** One event, by its field names. */
export class SessionEventDocument {
  @ApiProperty({ enum: ['session'] })
  readonly event: string;

  @GenerationProperty({ description: 'The generation of the session, in decimal. Send it as `Last-Event-ID`.' })
  readonly id: number;

  @ApiProperty({ type: SessionDocument, description: 'The session, as JSON in one line.' })
  readonly data: SessionDocument;
}

/** Sent to those that asked for it. It has no id. */
export class HandoverEventDocument {
  @ApiProperty({ enum: ['handover'] })
  readonly event: string;

  @ApiProperty({ type: HandoverNotice, description: 'As JSON in one line.' })
  readonly data: HandoverNotice;
}

const EVENTS: { $ref: string }[] = [SessionEventDocument, HandoverEventDocument].map((event) => ({
  $ref: schemaPathOf(event),
}));

/** A stream is the sequence of its events, as in later versions of OpenAPI. */
export const EVENT_STREAM = {
  type: 'array' as const,
  items: { oneOf: EVENTS },
  description: 'The events, one after the other. Comments and the field `retry` are not events.',
};
