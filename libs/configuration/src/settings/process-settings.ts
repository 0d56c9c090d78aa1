import { certificates, fileOf, privateKey } from '../file-contents.js';
import { flag, oneOf, section, text, texts, wholeNumber } from '../setting.js';
import * as rule from '../value-rule.js';

/** What broker and egress have in the same way. */

/** TLS of the server side, and the authorities whose client certificates name callers. */
export const httpTls = section({
  certFile: text(fileOf(certificates)).says(
    'PEM certificate of the server, with its chain. A `tls` section turns on TLS 1.2 and 1.3.',
  ),
  keyFile: text(fileOf(privateKey)).says('PEM key of that certificate.'),
  clientCaFile: text(fileOf(certificates)).optional.says(
    'PEM certificates of the authorities that issue client certificates; those identify callers.',
  ),
});

export const managementHosts = texts(rule.hostName).says(
  'Host names that may be used for this port, such as that of an ingress, besides `localhost` and IP addresses. A request to any other name is answered 421: [security](../security.md#names-of-others).',
);

export const gatewayUrl = text(rule.baseUrl).says('Where the gateway is. https is required in production.');

/** Whom to trust as the gateway. Nothing here can switch verification off. */
export const gatewayTls = section({
  caFile: text(fileOf(certificates)).optional.says('PEM certificates to trust in place of the built-in authorities.'),
  pins: texts(rule.publicKeyPin).says(
    "`sha256/…` of the server's public key (RFC 7469 without its quotes); one must match.",
  ),
});

export const gatewayProxy = text(rule.proxyUrl).optional.says('URL of an HTTP proxy to the gateway.');

export const reload = section({
  watch: flag(true).says(
    'Apply changed files without a restart: [reload](../reload.md). SIGHUP always applies them at once.',
  ),
  everyMs: text(rule.durationBetween('1s', '1h'), '5s').says(
    'How often the files are checked; a change is applied once nothing else has changed for a second.',
  ),
  maxRemoved: wholeNumber(0, 100_000, 10).says(
    'A change that removes more merchants (of an egress: clients) than this, or more than half of four or more, is refused: the file may be cut off. The number in force counts, not the changed one.',
  ),
});

export const log = section({
  level: oneOf(['debug', 'info', 'warn', 'error'], 'info').says('The least severe lines that are logged.'),
});

/** Everybody who connects is counted, known or not. */
export const connections = section({
  max: wholeNumber(1, 1_000_000).optional.says(
    'Maximum number of connections to this port of one process. Without it, what the memory limit of the process allows.',
  ),
  perAddress: wholeNumber(1, 1_000_000).optional.says(
    'Maximum number of them from one address; without it, an eighth. Behind a proxy or a load balancer, all have the same address.',
  ),
});
