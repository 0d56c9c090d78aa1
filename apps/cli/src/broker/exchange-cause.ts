import type { ExchangeEnd } from '#libs/outbound';
import { causeOf } from '#libs/session';

/** Why an exchange with a broker ended without an answer, in the words of the status page. */
export function exchangeCause({ kind, mark }: ExchangeEnd, peer: string): string {
  return causeOf({ kind: kind === 'untrusted' ? 'refused' : 'transient', trace: { mark, peer } }).text;
}
