/** The port of an HTTP URL, with the defaults of RFC 9110 sections 4.2.1 and 4.2.2. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
