import { ApiProperty } from '../docs/api-decorators.js';
import { IsObject, IsString } from '../http/body-rules.js';
import { NOTIFICATION_KINDS, type NotificationKind } from './notification-content.js';

const HEADER_VALUE = { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };

export class NotificationRequest {
  @IsObject({ message: 'must be the headers of the notification, by name' })
  @ApiProperty({
    type: 'object',
    additionalProperties: HEADER_VALUE,
    example: { 'content-type': 'text/plain', 'x-encrypted_body': 'true' },
    description: 'As they came, names in any case. Only `x-encrypted_body` is looked at.',
  })
  readonly headers: Readonly<Record<string, unknown>>;

  @IsString({ message: 'must be text' })
  @ApiProperty({ description: 'As it came: JSON, or a compact JWE. At most 64 KiB, sealed or not.' })
  readonly body: string;
}

export class NotificationDocument {
  @ApiProperty({
    enum: NOTIFICATION_KINDS,
    description: '`hosted_page`: an order with its `operation`. `direct_payment`: the members of an operation.',
  })
  readonly kind: NotificationKind;

  @ApiProperty({ description: 'Whether it came sealed. Neither way proves who sent it.' })
  readonly sealed: boolean;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'All members, also those nobody has heard of.',
  })
  readonly content: Readonly<Record<string, unknown>>;
}
