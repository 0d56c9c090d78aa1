import type { Clock } from '#libs/clock';
import { askPlainly, type EchoedAddress, echoedAddress, type EntryPoint, entryPointOf, lookUp } from '#libs/gateway';
import { type GatewayConnections, type GatewayPlace, type PlainAnswer, reach, shakeHands } from '#libs/gateway';
import { createSessionAddress, presentedChain, type PresentedCertificate } from '#libs/gateway';
import { GatewayFailure } from '#libs/session';
import { gatewayFaultClass } from '../gateway-fault-class.js';
import { describeFailure } from '../gateway-words.js';
import { fault, looked, type Verdict } from './check.js';

export interface GatewayTools {
  readonly clock: Clock;
  readonly connections: GatewayConnections;
}

interface Way {
  readonly gateway: GatewayPlace;
  /** Where connections go, and for whom if several ways differ only in their settings. */
  readonly subject: string;
  /** Where create calls go; absent if none are made, as by the egress. */
  readonly createAddress?: URL;
}

/** One look at a gateway, on behalf of all merchants that reach it in the same way. All of it throws GatewayFailure. */
export class GatewayVisit {
  readonly gateway: GatewayPlace;
  readonly subject: string;
  readonly createAddress: URL | undefined;
  readonly entry: EntryPoint;
  readonly clock: Clock;
  readonly #tools: GatewayTools;

  constructor({ gateway, subject, createAddress }: Way, tools: GatewayTools) {
    this.gateway = gateway;
    this.subject = subject;
    this.createAddress = createAddress;
    this.entry = entryPointOf(gateway);
    this.clock = tools.clock;
    this.#tools = tools;
  }

  addresses(): Promise<readonly string[]> {
    return lookUp(this.entry);
  }

  connect(signal: AbortSignal): Promise<void> {
    return reach(this.entry, { clock: this.clock, signal, timeoutMs: this.gateway.timeoutMs });
  }

  /** What is presented, trusted or not. */
  presented(signal: AbortSignal): Promise<readonly PresentedCertificate[]> {
    return presentedChain(this.gateway, { clock: this.clock, signal });
  }

  /** @returns the version of TLS, if the certificate is trusted */
  shakeHands(signal: AbortSignal): Promise<string> {
    return shakeHands(this.gateway, { clock: this.clock, signal });
  }

  /** One GET that creates nothing. */
  async answer(signal: AbortSignal): Promise<PlainAnswer> {
    const { gateway, createAddress: address } = this;
    return await askPlainly(this.#tools, { gateway, signal, ...(address && { address }) });
  }

  echoed(url: URL, signal: AbortSignal): Promise<EchoedAddress> {
    return echoedAddress(this.#tools, { gateway: this.gateway, url, signal });
  }
}

interface MerchantWithGateway {
  readonly id: string;
  readonly gateway: GatewayPlace;
}

/** One visit for each distinct set of settings by which the merchants reach a gateway. */
export function visitsOf(merchants: readonly MerchantWithGateway[], tools: GatewayTools): readonly GatewayVisit[] {
  const distinct = Map.groupBy(merchants, ({ gateway: { baseUrl, tls, proxy, timeoutMs } }) =>
    JSON.stringify([baseUrl.href, proxy?.href, tls.ca, tls.pins, timeoutMs]),
  );
  const firsts = [...distinct.values()].flatMap(([first]) => first ?? []);
  return firsts.map(({ id, gateway }) => {
    const { host } = gateway.baseUrl;
    const isAlone = firsts.filter((other) => other.gateway.baseUrl.host === host).length === 1;
    const subject = isAlone ? host : `${host} (as for ${id})`;
    return new GatewayVisit({ gateway, subject, createAddress: createSessionAddress(gateway) }, tools);
  });
}

/**
 * The verdict of `look`. A gateway failure becomes a fault of its class; one that we caused ourselves becomes no
 * verdict.
 */
export async function asFault(
  look: () => Promise<Verdict>,
  remedy: string | ((failure: GatewayFailure) => string),
  message: (failure: GatewayFailure) => string = describeFailure,
): Promise<Verdict> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    if (error.kind === 'aborted') return { kind: 'not_run', reason: 'ended on request' };
    const advice = typeof remedy === 'string' ? remedy : remedy(error);
    return looked([fault(gatewayFaultClass(error), message(error), advice)]);
  }
}
