import { ApiProperty } from '../docs/api-decorators.js';
import { IsIn, IsObject, IsString, ValidateIf } from '../http/body-rules.js';
import { GenerationProperty } from '../docs/generation-property.js';
import { MAX_JWE_BYTES } from './payload-bounds.js';
import { type Encoding, ENCODINGS } from './payload-text.js';

const whenGiven = (name: string): PropertyDecorator =>
  ValidateIf((body: Readonly<Record<string, unknown>>) => body[name] !== undefined);

const ENCODING_FAULT = { message: `must be one of ${ENCODINGS.join(', ')}` };

/** A public P-384 key. Additional members must suit its purpose, and `d` is refused. */
export class RecipientJwkDocument {
  @ApiProperty({ enum: ['EC'] })
  readonly kty: string;

  @ApiProperty({ enum: ['P-384'] })
  readonly crv: string;

  @ApiProperty({ example: '--mRoBKIOvX64XX0l-CPpVCAapwyNZ6VzsBdD5R2dLkFgVtqqvnNB-KWwHtG_22e' })
  readonly x: string;

  @ApiProperty({ example: 'PFQGZA48J5kQ9m7rzTZk405DaS4Xd3yhGv8RWnS1bNef48dG3HoFyM_4Ln7rY5wK' })
  readonly y: string;

  @ApiProperty({ required: false, enum: ['enc'] })
  readonly use?: string;

  @ApiProperty({ required: false, enum: ['ECDH-ES+A256KW'] })
  readonly alg?: string;
}

export class EncryptionRequest {
  @IsString({ message: 'must be text' })
  @ApiProperty({ description: 'At most 64 KiB of bytes.', example: '{"amount":100}' })
  readonly plaintext: string;

  @whenGiven('encoding')
  @IsIn(ENCODINGS, ENCODING_FAULT)
  @ApiProperty({ required: false, enum: ENCODINGS, default: 'utf8', description: 'How `plaintext` is written.' })
  readonly encoding?: Encoding;

  @whenGiven('recipient')
  @IsObject({ message: 'must be a JSON Web Key' })
  @ApiProperty({
    required: false,
    type: RecipientJwkDocument,
    description: "Default: the current session's serverPublic.",
  })
  readonly recipient?: object;
}

export class EncryptionDocument {
  @ApiProperty({ description: 'Compact JWE: ECDH-ES+A256KW, A256GCM.' })
  readonly jwe: string;

  @GenerationProperty({
    required: false,
    description: 'Of the session to whose serverPublic it is sealed; absent with `recipient`.',
  })
  readonly generation?: number;
}

export class DecryptionRequest {
  @IsString({ message: 'must be text' })
  @ApiProperty({ maxLength: MAX_JWE_BYTES, description: 'Compact JWE, sealed to a client key of the merchant.' })
  readonly jwe: string;

  @whenGiven('encoding')
  @IsIn(ENCODINGS, ENCODING_FAULT)
  @ApiProperty({
    required: false,
    enum: ENCODINGS,
    description: 'How to write `plaintext`. Default: utf8 where the bytes are UTF-8, otherwise base64.',
  })
  readonly encoding?: Encoding;
}

export class DecryptionDocument {
  @ApiProperty({ description: 'Secret.', example: '{"status":"APPROVED"}' })
  readonly plaintext: string;

  @ApiProperty({ enum: ENCODINGS, description: 'How `plaintext` is written.' })
  readonly encoding: string;
}
