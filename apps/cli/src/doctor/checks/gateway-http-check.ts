import type { PlainAnswer } from '#libs/gateway';
import { type GatewayFailure, TLS_SPOKEN } from '#libs/session';
import { type Check, fact, type Finding, looked, warning } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { GatewayVisit } from '../gateway-visit.js';
import { GRACE_MS } from './gateway-tcp-check.js';

/**
 * Whether HTTP gets through, tested with a GET that creates nothing: any status counts as an answer. For the address of
 * create calls, the answer can also hint that the address is wrong. It is never more than a hint, as nothing documents
 * what the gateway does with a GET.
 */
export function gatewayHttpCheck(visit: GatewayVisit): Check {
  const { subject, gateway, tools, createAddress } = visit;
  return {
    name: 'gateway.http',
    subject,
    needs: ['gateway.tcp', 'gateway.tls'],
    limitMs: gateway.timeoutMs + GRACE_MS,
    run: (signal) =>
      asFault(async () => {
        const askedAtMs = tools.clock.monotonicMs();
        const answer = await visit.answer(signal);
        const { httpStatus } = answer;
        const tookMs = Math.round(tools.clock.monotonicMs() - askedAtMs);
        const asked = createAddress === undefined ? 'baseUrl' : 'this address';
        const told = fact(`GET of ${asked} is answered ${httpStatus} after ${tookMs} ms`);
        if (createAddress === undefined) {
          const { href } = gateway.baseUrl;
          return looked([told, ...doubts(answer, `compare ${href} with what the bank has told`)], {
            httpStatus,
            tookMs,
          });
        }
        const where = fact(`creates sessions at ${createAddress.href}`);
        const facts = { createsAt: createAddress.href, httpStatus, tookMs };
        return looked([where, told, ...doubtsOfCreate(answer, createAddress)], facts);
      }, remedyOf),
  };
}

function remedyOf({ trace }: GatewayFailure): string {
  if (trace?.mark !== TLS_SPOKEN) return 'see whether baseUrl, and the proxy if there is one, lead to the gateway';
  return `see scheme and port in ${trace.viaProxy === true ? 'proxy' : 'baseUrl'}`;
}

function doubtsOfCreate(answer: PlainAnswer, { href }: URL): readonly Finding[] {
  const remedy = `compare ${href} with what the bank has told; --create-session shows whether sessions are created there`;
  return answer.httpStatus === 404
    ? [warning('404 is the answer of an address that is not there', remedy)]
    : doubts(answer, remedy);
}

/**
 * Where there is no operation, as at a `baseUrl`, a gateway may answer 404, and whatever stands in front of it may do
 * so with a page.
 */
function doubts({ httpStatus, isHtml }: PlainAnswer, remedy: string): readonly Finding[] {
  if (httpStatus === 404) return [];
  const isElsewhere = httpStatus >= 300 && httpStatus < 400;
  if (isElsewhere) return [warning('the address leads elsewhere, where no call follows', remedy)];
  return isHtml ? [warning('the answer is a page of HTML, as of a web site or a firewall', remedy)] : [];
}
