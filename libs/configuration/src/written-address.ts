/**
 * As written in a URL: an IPv6 address is in brackets, since its last group could otherwise be mistaken for the port.
 */
export function writtenAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
