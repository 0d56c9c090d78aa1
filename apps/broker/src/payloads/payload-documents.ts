import { ApiProperty, Generation, Member } from '../docs/api-decorators.js';
import { PublicKeyDocument } from '../docs/route-documents.js';
import { ChoiceMember, ObjectMember, TextMember } from '../http/body.js';
import { NOTIFICATION_KINDS, type NotificationKind } from './notification-content.js';
import { type Encoding, ENCODINGS, MAX_JWE_BYTES } from './payload-text.js';

/** Additional members must suit its purpose, and `d` is refused. */
export class RecipientJwkDocument extends PublicKeyDocument {
  @ApiProperty({ required: false, enum: ['enc'] })
  readonly use?: string;

  @ApiProperty({ required: false, enum: ['ECDH-ES+A256KW'] })
  readonly alg?: string;
}

export class EncryptionRequest {
  @TextMember('At most 64 KiB of bytes.', { example: '{"amount":100}' })
  readonly plaintext: string;

  @ChoiceMember(ENCODINGS, 'How `plaintext` is written.', { required: false, default: 'utf8' })
  readonly encoding?: Encoding;

  @ObjectMember('a JSON Web Key', "Default: the current session's serverPublic.", {
    required: false,
    type: RecipientJwkDocument,
  })
  readonly recipient?: object;
}

export class EncryptionDocument {
  @Member('Compact JWE: ECDH-ES+A256KW, A256GCM.')
  readonly jwe: string;

  @Generation('Of the session to whose serverPublic it is sealed; absent with `recipient`.', { required: false })
  readonly generation?: number;
}

export class DecryptionRequest {
  @TextMember('Compact JWE, sealed to a client key of the merchant.', { maxLength: MAX_JWE_BYTES })
  readonly jwe: string;

  @ChoiceMember(ENCODINGS, 'How to write `plaintext`. Default: utf8 where the bytes are UTF-8, otherwise base64.', {
    required: false,
  })
  readonly encoding?: Encoding;
}

export class DecryptionDocument {
  @Member('Secret.', { example: '{"status":"APPROVED"}' })
  readonly plaintext: string;

  @Member('How `plaintext` is written.', { enum: ENCODINGS })
  readonly encoding: string;
}

const HEADER_VALUE = { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };

export class NotificationRequest {
  @ObjectMember(
    'the headers of the notification, by name',
    'As they came, names in any case. Only `x-encrypted_body` is looked at.',
    {
      type: 'object',
      additionalProperties: HEADER_VALUE,
      example: { 'content-type': 'text/plain', 'x-encrypted_body': 'true' },
    },
  )
  readonly headers: Readonly<Record<string, unknown>>;

  @TextMember('As it came: JSON, or a compact JWE. At most 64 KiB, sealed or not.')
  readonly body: string;
}

export class NotificationDocument {
  @Member('`hosted_page`: an order with its `operation`. `direct_payment`: the members of an operation.', {
    enum: NOTIFICATION_KINDS,
  })
  readonly kind: NotificationKind;

  @Member('Whether it came sealed. Neither way proves who sent it.')
  readonly sealed: boolean;

  @Member('All members, also those nobody has heard of.', { type: 'object', additionalProperties: true })
  readonly content: Readonly<Record<string, unknown>>;
}
