import { text } from '../setting.js';
import { fileName } from '../value-rule.js';

/** TLS of the API itself, and the authorities whose client certificates name callers (`auth.mtls`). */
export class HttpTlsSettings {
  @text(fileName) readonly certFile!: string;
  @text(fileName) readonly keyFile!: string;
  @text(fileName, { optional: true }) readonly clientCaFile?: string;
}
