import { hostOf, portOf } from '#libs/outbound';
import type { GatewayPlace } from './merchant-gateway.js';

/** Where our connections go: to the gateway, or to the proxy in front of it. */
export interface EntryPoint {
  readonly host: string;
  readonly port: number;
  readonly via: 'gateway' | 'proxy';
}

/** The place that has to be reached first. Credentials in a proxy's URL are left out. */
export function entryPointOf({ baseUrl, proxy }: Pick<GatewayPlace, 'baseUrl' | 'proxy'>): EntryPoint {
  const url = proxy ?? baseUrl;
  return {
    host: hostOf(url),
    port: portOf(url),
    via: proxy === undefined ? 'gateway' : 'proxy',
  };
}

/** The place as a failure names it. */
export function peerOf({ host, port, via }: EntryPoint): { readonly peer: string; readonly viaProxy?: true } {
  const peer = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return via === 'proxy' ? { peer, viaProxy: true } : { peer };
}
