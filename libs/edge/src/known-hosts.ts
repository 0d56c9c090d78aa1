import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { BrokerError } from '#libs/errors';
import { answerProblem } from './answer-problem.js';
import type { Handler } from './one-request-at-a-time.js';

const AUTHORITY = /^(?:\[(?<v6>[\da-f:.]+)\]|(?<name>[^:[\]]+))(?::\d{1,5})?$/i;

/**
 * Refuses requests to names that are not ours, before anything else sees them. If no credential is required, anybody's
 * page could have its own name resolved to our address (DNS rebinding): to the browser that is then the page's own
 * origin, and the page may read the answers. Nobody can have an address resolved to another one, and `localhost` is
 * never sent to a resolver.
 * @param hosts further names, read with every request
 */
export function refuseOtherHosts(server: Server, hosts: () => readonly string[]): void {
  const handlers = server.listeners('request') as Handler[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (!isKnownHost(request, hosts())) return refuse(request, response);
    for (const handler of handlers) handler.call(server, request, response);
  });
}

/** A request without `Host`, as in HTTP/1.0, does not come from a browser. */
export function isKnownHost(
  { headers: { host } }: Pick<IncomingMessage, 'headers'>,
  hosts: readonly string[],
): boolean {
  if (host === undefined) return true;
  const { v6, name = '' } = AUTHORITY.exec(host)?.groups ?? {};
  if (v6 !== undefined) return isIP(v6) === 6;
  const asked = plain(name);
  return isIP(asked) === 4 || asked === 'localhost' || hosts.some((each) => plain(each) === asked);
}

/** Names are equal regardless of case, and with or without the trailing dot of the root. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const publicDetail = 'Host is neither localhost, nor an address, nor one of the hosts of the configuration';
  answerProblem(request, response, new BrokerError('misdirected_request', { publicDetail }));
}
