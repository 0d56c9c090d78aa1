/**
 * As it stands in a URL: an IPv6 address in brackets, since its last group could be taken for the port otherwise.
 */
export function writtenAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
