import { toRfc3339 } from '#libs/clock';
import { type Handshake, presentedChain, type PresentedCertificate, shakeHands } from '#libs/gateway';
import { GatewayFailure, isUntrusted } from '#libs/session';
import { lifeOf } from '../certificate-life.js';
import { type Check, fact, type Finding, looked, notApplicable, type Verdict, warning } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { GatewayVisit } from '../gateway-visit.js';
import { GRACE_MS } from './gateway-tcp-check.js';

/** The mark of a port that accepts connections but does not speak TLS. */
export const NO_TLS_SPOKEN = 'ERR_SSL_WRONG_VERSION_NUMBER';

/**
 * Whether the gateway's certificate is trusted as configured, how long its chain remains valid, and what its pin is.
 */
export function gatewayTlsCheck(visit: GatewayVisit): Check {
  const { entry, subject, gateway, tools } = visit;
  return {
    name: 'gateway.tls',
    subject,
    needs: ['gateway.tcp'],
    // An untrusted certificate is fetched a second time.
    limitMs: 2 * gateway.timeoutMs + GRACE_MS,
    run: async (signal): Promise<Verdict> => {
      if (gateway.baseUrl.protocol !== 'https:') return notApplicable('baseUrl is http');
      if (entry.via === 'proxy') return notApplicable('behind a proxy the handshake is part of gateway.http');
      let isShown = false;
      const verdict = await asFault(
        async () => describe(await shakeHands(gateway, { clock: tools.clock, signal })),
        (failure) => {
          isShown = isUntrusted(failure) && failure.trace?.mark !== NO_TLS_SPOKEN;
          return failure.trace?.mark === NO_TLS_SPOKEN
            ? 'see scheme and port in baseUrl'
            : 'compare tls.caFile, tls.pins and baseUrl with what the bank has given';
        },
      );
      return isShown && verdict.kind === 'looked' ? withPresented(verdict, await presented(visit, signal)) : verdict;
    },
  };

  function describe({ protocol, chain }: Handshake): Verdict {
    const now = tools.clock.now();
    const findings = chain.map(({ endsAt }, index) =>
      lifeOf(index === 0 ? "the gateway's certificate" : `certificate ${index + 1} of its chain`, endsAt, now),
    );
    const facts = chain.map(({ endsAt, pin }) => ({ endsAt: toRfc3339(endsAt), pin }));
    return looked([fact(`${protocol}, trusted`), ...findings, ...pinFindings(chain[0]?.pin)], {
      protocol,
      chain: facts,
    });
  }

  function pinFindings(pin: string | undefined): readonly Finding[] {
    const { pins } = gateway.tls;
    if (pins.length === 0) return pin === undefined ? [] : [fact(`its pin, should you want one: ${pin}`)];
    return pins.length === 1
      ? [
          warning(
            'only one key is pinned',
            'pin the one that the bank will change to as well, or a change cuts you off',
          ),
        ]
      : [fact(`its key is one of ${pins.length} pinned ones`)];
  }
}

type Looked = Extract<Verdict, { readonly kind: 'looked' }>;

/** For whoever has to find out what has changed: none of it is trusted. */
function withPresented({ findings }: Looked, chain: readonly PresentedCertificate[]): Verdict {
  const shown = chain.map(({ subject, issuer, pin, ...life }) => ({
    subject,
    issuer,
    beginsAt: toRfc3339(life.beginsAt),
    endsAt: toRfc3339(life.endsAt),
    pin,
  }));
  const facts = shown.map(({ subject, issuer, beginsAt, endsAt, pin }, index) => {
    const which = index === 0 ? 'presented, and not trusted' : `certificate ${index + 1} of its chain`;
    return fact(
      `${which}: ${subject}; issued by ${issuer}; ${beginsAt.slice(0, 10)} to ${endsAt.slice(0, 10)}; pin ${pin}`,
    );
  });
  return looked([...findings, ...facts], { presented: shown });
}

/** Empty if it cannot be fetched a second time: the fault has already been reported. */
async function presented(
  { gateway, tools }: GatewayVisit,
  signal: AbortSignal,
): Promise<readonly PresentedCertificate[]> {
  try {
    return await presentedChain(gateway, { clock: tools.clock, signal });
  } catch (error) {
    if (error instanceof GatewayFailure) return [];
    throw error;
  }
}
