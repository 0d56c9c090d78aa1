/** The host of a URL in the form that sockets take: an IPv6 address without its brackets (RFC 3986 section 3.2.2). */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
