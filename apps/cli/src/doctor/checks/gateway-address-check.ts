import { BlockList } from 'node:net';
import { echoedAddress } from '#libs/gateway';
import type { GatewayFailure } from '#libs/session';
import { describeFailure } from '../../gateway-words.js';
import { type Check, fact, type Finding, looked, warning } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { GatewayVisit } from '../gateway-visit.js';
import { GRACE_MS } from './gateway-tcp-check.js';

const ANOTHER_ECHO =
  'give --echo-url a server that can be reached from here, and answers with the address of its caller as plain text';

const inside = new BlockList();
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  inside.addSubnet(net, prefix, 'ipv4');
}

/** Which address the world sees when the broker calls: the bank lets in only IPv4 addresses that it was told about. */
export function gatewayAddressCheck(visit: GatewayVisit, url: URL): Check {
  const { subject, gateway, tools } = visit;
  return {
    name: 'gateway.address',
    subject,
    limitMs: gateway.timeoutMs + GRACE_MS,
    run: (signal) =>
      asFault(
        async () => {
          const { address, version } = await echoedAddress(tools, { gateway, url, signal });
          const seen = fact(`calls come from ${address}, as ${url.host} sees it`);
          return looked([seen, ...doubts(address, version)], { address, version });
        },
        { remedy: ANOTHER_ECHO, message: (failure) => echoFailure(failure, url, gateway.proxy) },
      ),
  };
}

/** Attributes the answer to the echo, or to the proxy on the way to it: the bank was not asked. */
function echoFailure(failure: GatewayFailure, { host }: URL, proxy: URL | undefined): string {
  const { httpStatus, detail = '' } = failure;
  const way = proxy === undefined ? '' : `, asked through the proxy ${proxy.host}`;
  const what = httpStatus === undefined ? describeFailure(failure) : `${detail} [HTTP ${httpStatus}]`;
  return `the echo at ${host}${way}: ${what}`;
}

function doubts(address: string, version: 4 | 6): readonly Finding[] {
  if (version === 6) {
    const remedy =
      'ask an echo that has an IPv4 address only; should calls to the gateway go by IPv6, see that they do not';
    return [warning('this is an IPv6 address, and the bank lets in IPv4 addresses', remedy)];
  }
  if (!inside.check(address, 'ipv4')) return [];
  return [warning('this is an address of a private network, which the bank does not see', 'ask an echo outside of it')];
}
