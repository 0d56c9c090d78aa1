/** The host that a URL leads to, as sockets want it: an address of IPv6 without its brackets (RFC 3986 section 3.2.2). */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
