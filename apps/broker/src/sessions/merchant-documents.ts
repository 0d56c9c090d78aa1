import { merchantConditions, sharedFailureKinds } from '#libs/session';
import { ApiProperty, Generation, Member, OptionalMember } from '../docs/api-decorators.js';
import { PublicKeyDocument } from '../docs/route-documents.js';
import { storeConditions } from '../renewal/store.js';

export class FailureDocument {
  @ApiProperty({ enum: sharedFailureKinds })
  readonly kind: string;

  @OptionalMember("The gateway's own code; `html_page` or `empty_answer` when that came in place of an answer.", {
    example: 'b_server_is_overloaded',
  })
  readonly msgCode?: string;

  @OptionalMember("By which the gateway knows the call, where it has answered: what the bank's support asks for.", {
    example: 'f1c7e2a0-52f1-4d0c-9a3e-7f1c2b6d8e90',
  })
  readonly gatewayRequestId?: string;

  @OptionalMember(
    '`gateway.baseUrl` is wrong, and no later call fixes it: no TLS is spoken there, it leads elsewhere, or it ' +
      'takes no create calls.',
    { enum: [true] },
  )
  readonly wrongAddress?: true;

  @ApiProperty({ format: 'date-time' })
  readonly at: string;
}

export class MerchantDocument {
  @ApiProperty({ example: 'shop' })
  readonly id: string;

  @Member('What a read gets now: `fresh` also while renewals fail.', {
    enum: ['fresh', 'foreign_authorizer', 'stale', 'unavailable'],
  })
  readonly state: string;

  @ApiProperty({ enum: ['current', 'foreign_authorizer', 'past_margin', 'no_session', 'expired'] })
  readonly reason: string;

  @Member(
    'How the merchant is, the worst first. `dead`: consumers report the session that is served, or the gateway has ' +
      'made one that is of no use here, and ends it. `failing`: it is `fresh`, but the last attempt failed, or its ' +
      'renewal waits for a create call or for the store.',
    { enum: merchantConditions },
  )
  readonly condition: string;

  @Member('Whether this replica is creating the next session right now.')
  readonly renewing: boolean;

  @Member(
    'Whether nothing is renewed because the store refuses or is silent: `renewAt` and `retryAt` then pass without ' +
      'an attempt.',
  )
  readonly renewalBlocked: boolean;

  @Generation('Of the session that this replica holds.', { required: false })
  readonly generation?: number;

  @ApiProperty({ required: false, format: 'date-time' })
  readonly expiresAt?: string;

  @ApiProperty({ required: false, format: 'date-time' })
  readonly renewAt?: string;

  @OptionalMember('Since the last session.', { type: FailureDocument })
  readonly lastFailure?: FailureDocument;

  @OptionalMember(
    'What is the matter, in a sentence for people; absent while all is well. Every 503, the status page and the log ' +
      'have the same words.',
    { example: 'Not renewed: nothing listens there (ECONNREFUSED to bank.example:443)' },
  )
  readonly cause?: string;

  @OptionalMember('With `cause`: what to do about it.', {
    example: 'see whether the gateway is up, and whether gateway.baseUrl names its host and port',
  })
  readonly remedy?: string;

  @OptionalMember('With `cause`: the page of docs/runbooks to go on with.', { example: 'access-refused' })
  readonly runbook?: string;

  @OptionalMember(
    'When the next attempt may be made, after one that failed or while the create-call budget is spent.',
    { format: 'date-time' },
  )
  readonly retryAt?: string;
}

export class ChangedConfigurationDocument {
  @OptionalMember('Since when changed files are refused; the configuration before them is in force.', {
    format: 'date-time',
  })
  readonly refusedSince?: string;

  @OptionalMember('With `refusedSince`: how many faults the files have. The log names them.', {
    type: 'integer',
    format: 'int32',
    minimum: 1,
  })
  readonly faults?: number;

  @OptionalMember('With `refusedSince`: the setting that the first fault is about; absent where none is to blame.', {
    example: 'http.tls.certFile',
  })
  readonly firstFault?: string;

  @OptionalMember('Settings that have changed and take effect with the next start of this replica.', {
    type: [String],
    example: ['http.port'],
  })
  readonly awaitingRestart?: readonly string[];

  @OptionalMember(
    'With `awaitingRestart`: what to do about it, in a sentence for people. The status page has the same words.',
    { example: 'nothing to do tonight: restart in office hours' },
  )
  readonly advice?: string;

  @OptionalMember('With `advice`: the page of docs/runbooks to go on with.', { example: 'config-reload-failed' })
  readonly runbook?: string;
}

export class MerchantListDocument {
  @Member(
    'The replica that answers: the name of its pod in Kubernetes, elsewhere its host name and the port of its API.',
    { example: 'broker-0' },
  )
  readonly replica: string;

  @Member(
    'The store as this replica finds it. While it is `silent` or `refuses`, sessions are served from memory. ' +
      '`unknown` until it was asked once.',
    { enum: [...storeConditions, 'unknown'] },
  )
  readonly store: string;

  @OptionalMember(
    'While the store is `silent` or `refuses`: what became of the connection, or the code of the refusal.',
    { example: 'NOPERM' },
  )
  readonly storeReason?: string;

  @OptionalMember('What became of changed files of the configuration, absent while they say what is in force.', {
    type: ChangedConfigurationDocument,
  })
  readonly configuration?: ChangedConfigurationDocument;

  @ApiProperty({ type: [MerchantDocument] })
  readonly merchants: readonly MerchantDocument[];
}

export class ClientPublicJwkDocument extends PublicKeyDocument {
  @ApiProperty({ enum: ['enc'] })
  readonly use: string;

  @ApiProperty({ enum: ['ECDH-ES+A256KW'] })
  readonly alg: string;
}

export class ClientKeyDocument {
  @ApiProperty({ example: 'shop' })
  readonly merchant: string;

  @Member('The public JWK to hand to the bank.', { type: ClientPublicJwkDocument })
  readonly jwk: ClientPublicJwkDocument;

  @Member('RFC 7638, SHA-256, base64url.')
  readonly thumbprint: string;
}
