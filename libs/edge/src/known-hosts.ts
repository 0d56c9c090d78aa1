import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const AUTHORITY = /^(?:\[(?<v6>[\da-f:.]+)\]|(?<name>[^:[\]]+))(?::\d{1,5})?$/i;

/**
 * Whether a request is to a name that is ours. If no credential is required, anybody's page could have its own name
 * resolved to our address (DNS rebinding): to the browser that is then the page's own origin, and the page may read the
 * answers. Nobody can have an address resolved to another one, and `localhost` is never sent to a resolver. A request
 * without `Host`, as in HTTP/1.0, does not come from a browser.
 * @param hosts further names
 */
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
