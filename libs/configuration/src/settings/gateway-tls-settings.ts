import { text, texts } from '../setting.js';
import { fileName, publicKeyPin } from '../value-rule.js';

/** Whom to believe at the gateway's end. Nothing here can switch verification off. */
export class GatewayTlsSettings {
  @text('PEM certificates to trust in place of the built-in authorities.', fileName, { optional: true })
  readonly caFile?: string;

  @texts("`sha256/…` of the server's public key (RFC 7469 without its quotes); one must match.", publicKeyPin, 0)
  readonly pins: string[] = [];
}
