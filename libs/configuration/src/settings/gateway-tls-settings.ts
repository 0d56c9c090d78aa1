import { text, texts } from '../setting.js';
import { fileName, publicKeyPin } from '../value-rule.js';

/** Whom to believe at the gateway's end. Nothing here can switch verification off. */
export class GatewayTlsSettings {
  @text(fileName, { optional: true }) readonly caFile?: string;
  @texts(publicKeyPin, 0) readonly pins: string[] = [];
}
