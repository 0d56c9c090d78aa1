import type { Clock } from '#libs/clock';
import { askPlainly, entryPointOf } from '#libs/gateway';
import type { EntryPoint, GatewayConnections, GatewayPlace, PlainAnswer } from '#libs/gateway';
import { createSessionAddress, GatewayFailure } from '#libs/session';
import { tlsInstead, unlessTls } from '../gateway-tls-instead.js';

export interface VisitTools {
  readonly clock: Clock;
  readonly connections: GatewayConnections;
}

interface Purpose {
  readonly subject: string;
  /** Whether sessions are created there. */
  readonly creates: boolean;
}

/** One look at a gateway, on behalf of all merchants that reach it in the same way. */
export class GatewayVisit {
  readonly gateway: GatewayPlace;
  readonly entry: EntryPoint;
  /**
   * Names the visit in the report: where connections go, and for whom if several visits differ only in their settings.
   */
  readonly subject: string;
  readonly tools: VisitTools;
  /** Where create calls would go; undefined if none are made, as for the egress. */
  readonly createAddress: URL | undefined;
  #answer: Promise<PlainAnswer> | undefined;

  constructor(gateway: GatewayPlace, { subject, creates }: Purpose, tools: VisitTools) {
    this.gateway = gateway;
    this.createAddress = creates ? createSessionAddress(gateway) : undefined;
    this.entry = entryPointOf(gateway);
    this.subject = subject;
    this.tools = tools;
  }

  /**
   * Asks only once; the signal of the first caller counts.
   * @throws GatewayFailure
   */
  answer(signal: AbortSignal): Promise<PlainAnswer> {
    this.#answer ??= this.#ask(signal);
    return this.#answer;
  }

  async #ask(signal: AbortSignal): Promise<PlainAnswer> {
    const { gateway, tools, createAddress: address } = this;
    const bounds = { clock: tools.clock, signal };
    let answer: PlainAnswer;
    try {
      answer = await askPlainly(tools, { gateway, signal, ...(address && { address }) });
    } catch (error) {
      throw error instanceof GatewayFailure ? await unlessTls(error, gateway, bounds) : error;
    }
    const failure = await tlsInstead(answer, gateway, bounds);
    if (failure !== undefined) throw failure;
    return answer;
  }
}

/** As much of a merchant as a look at its gateway needs. */
export interface MerchantWithGateway {
  readonly id: string;
  readonly gateway: GatewayPlace;
}

/** One visit for each distinct way in which the merchants reach a gateway. */
export function visitsOf(merchants: readonly MerchantWithGateway[], tools: VisitTools): readonly GatewayVisit[] {
  const ways = new Map<string, GatewayPlace & { readonly merchant: string }>();
  for (const { id, gateway } of merchants) {
    const { baseUrl, tls, proxy, timeoutMs } = gateway;
    const way = JSON.stringify([baseUrl.href, proxy?.href, tls.ca, tls.pins, timeoutMs]);
    if (!ways.has(way)) ways.set(way, { merchant: id, ...gateway });
  }
  const hosts = [...ways.values()].map(({ baseUrl }) => baseUrl.host);
  return [...ways.values()].map((gateway) => {
    const { host } = gateway.baseUrl;
    const isAlone = hosts.indexOf(host) === hosts.lastIndexOf(host);
    const subject = isAlone ? host : `${host} (as for ${gateway.merchant})`;
    return new GatewayVisit(gateway, { subject, creates: true }, tools);
  });
}
