import type { Clock } from '#libs/clock';
import type { MerchantConfiguration } from '#libs/configuration';
import { askPlainly, type EntryPoint, entryPointOf, type GatewayConnections, type GatewayPlace } from '#libs/gateway';
import type { PlainAnswer } from '#libs/gateway';
import { gatewaySettingsOf } from '../merchant-gateway.js';

export interface VisitTools {
  readonly clock: Clock;
  readonly connections: GatewayConnections;
}

/** One look at a gateway, on behalf of all that reach it in the same way. */
export class GatewayVisit {
  readonly gateway: GatewayPlace;
  readonly entry: EntryPoint;
  /** Names it in the report: where connections go, and for whom when several differ only in their settings. */
  readonly subject: string;
  readonly tools: VisitTools;
  #answer: Promise<PlainAnswer> | undefined;

  constructor(gateway: GatewayPlace, subject: string, tools: VisitTools) {
    this.gateway = gateway;
    this.entry = entryPointOf(gateway);
    this.subject = subject;
    this.tools = tools;
  }

  /** Asked once; the signal of the first who asks counts. @throws GatewayFailure */
  answer(signal: AbortSignal): Promise<PlainAnswer> {
    this.#answer ??= askPlainly(this.tools, { gateway: this.gateway, signal });
    return this.#answer;
  }
}

/** One visit for each way of reaching a gateway that the merchants have. */
export function visitsOf(merchants: readonly MerchantConfiguration[], tools: VisitTools): readonly GatewayVisit[] {
  const ways = new Map<string, ReturnType<typeof gatewaySettingsOf>>();
  for (const merchant of merchants) {
    const { baseUrl, tls, proxy, timeoutMs } = merchant.gateway;
    const way = JSON.stringify([baseUrl.href, proxy?.href, tls.ca, tls.pins, timeoutMs]);
    if (!ways.has(way)) ways.set(way, gatewaySettingsOf(merchant));
  }
  const hosts = [...ways.values()].map(({ baseUrl }) => baseUrl.host);
  return [...ways.values()].map((gateway) => {
    const { host } = gateway.baseUrl;
    const isAlone = hosts.indexOf(host) === hosts.lastIndexOf(host);
    return new GatewayVisit(gateway, isAlone ? host : `${host} (as for ${gateway.merchant})`, tools);
  });
}
