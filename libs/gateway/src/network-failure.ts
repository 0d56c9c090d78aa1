import { type ExchangeEnd, exchangeEndOf } from '#libs/outbound';
import { GatewayFailure } from '#libs/session';
import { type EntryPoint, peerOf } from './entry-point.js';
import type { FailureVerdict } from './failure-rules.js';

const verdicts: Readonly<Record<ExchangeEnd['kind'], FailureVerdict>> = {
  untrusted: {
    kind: 'refused',
    detail: "the gateway's certificate is not trusted; compare tls.caFile, tls.pins and baseUrl with the bank's",
  },
  timeout: { kind: 'timeout', detail: 'the gateway did not answer in time' },
  unsendable: {
    kind: 'refused',
    detail: 'the request cannot be sent as configured; check baseUrl, proxy and requestData',
  },
  closed: { kind: 'aborted', detail: 'the connections to the gateway are closed' },
  malformed: { kind: 'invalid_response', detail: 'the gateway does not speak HTTP within its bounds' },
  broken_off: { kind: 'transient', detail: 'the exchange with the gateway broke off' },
};

/** It is the proxy's certificate that was not trusted. */
const PROXY_TLS = 'UND_ERR_PRX_TLS';

/**
 * Classifies what ended an exchange before there was an answer. An untrusted certificate is `refused`: retrying soon
 * does not help, and a person has to look at it.
 * @param entry where the connection went
 * @param gateway whose certificate it was, if a proxy is in front of it
 */
export function networkFailure(error: unknown, entry: EntryPoint, gateway: EntryPoint = entry): GatewayFailure {
  const end = exchangeEndOf(error);
  const { kind, detail } = verdicts[end.kind];
  const reach = end.wasReached ? {} : { wasReached: false };
  const peer = peerOf(end.kind === 'untrusted' && end.mark !== PROXY_TLS ? gateway : entry);
  return new GatewayFailure({ kind, detail: `${detail} (${end.mark})`, mark: end.mark, ...peer, ...reach });
}
