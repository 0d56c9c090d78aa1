import { text } from '../setting.js';
import { fileName, hostName } from '../value-rule.js';

/** Trust and identity towards the store. Nothing here can switch verification off. */
export class StoreTlsSettings {
  @text(
    'PEM authorities instead of the built-in ones. A `tls` section turns TLS on for sentinels and cluster.',
    fileName,
    { optional: true },
  )
  readonly caFile?: string;

  @text('PEM certificate of the broker, when Redis asks for one.', fileName, { optional: true })
  readonly certFile?: string;

  @text('PEM key of that certificate.', fileName, { optional: true })
  readonly keyFile?: string;

  @text("The name to verify when it is not the host's.", hostName, { optional: true })
  readonly servername?: string;
}
