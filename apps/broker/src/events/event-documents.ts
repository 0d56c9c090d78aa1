import { ApiProperty, Generation, Member, OptionalMember, schemaPathOf } from '../docs/api-decorators.js';
import { GenerationMember, WordMember } from '../http/body.js';
import { SessionDocument } from '../sessions/session-documents.js';

/** What a participant is told about a renewal that is about to begin, or that came to nothing. */
export class HandoverNotice {
  @ApiProperty()
  readonly merchant: string;

  @Generation('Of the session that is to come. It names the hand-over.')
  readonly generation: number;

  @Member(
    'Hold new calls until a session of this generation or a later one comes, for this many milliseconds at most. 0: ' +
      'the renewal has failed; go on with your session.',
    { type: 'integer', format: 'int32', minimum: 0, maximum: 10_000 },
  )
  readonly holdForMs: number;

  @Member("When the hand-over began, by the broker's clock.", { type: 'string', format: 'date-time' })
  readonly at: string;

  @OptionalMember(
    'You, in this hand-over: report it once no call of yours is running any more. Left out: no report is expected.',
    { pattern: '^[A-Za-z0-9_-]{1,64}$' },
  )
  readonly participant?: string;
}

/** One event, by its field names. */
export class SessionEventDocument {
  @ApiProperty({ enum: ['session'] })
  readonly event: string;

  @Generation('The generation of the session, in decimal. Send it as `Last-Event-ID`.')
  readonly id: number;

  @Member('The session, as JSON in one line.', { type: SessionDocument })
  readonly data: SessionDocument;
}

/** Sent to those that asked for it. It has no id. */
export class HandoverEventDocument {
  @ApiProperty({ enum: ['handover'] })
  readonly event: string;

  @Member('As JSON in one line.', { type: HandoverNotice })
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

export class ReadyRequest {
  @GenerationMember('As the event `handover` gave it.')
  readonly generation: number;

  @WordMember('_-', 'As the event `handover` gave it.')
  readonly participant: string;
}
