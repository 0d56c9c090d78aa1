import { text } from '../setting.js';
import { fileName } from '../value-rule.js';

/** TLS of the API itself, and the authorities whose client certificates name callers (`auth.mtls`). */
export class HttpTlsSettings {
  @text('PEM certificate of the API, with its chain; a `tls` section turns TLS 1.2 and 1.3 on.', fileName)
  readonly certFile!: string;

  @text('PEM key of that certificate.', fileName)
  readonly keyFile!: string;

  @text('PEM authorities of client certificates; with `auth.mtls`.', fileName, { optional: true })
  readonly clientCaFile?: string;
}
