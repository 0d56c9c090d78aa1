/** As in the interface description, "Create a technical session". */
const PATH = '/api-gateway/authorize_virtual_device';

/** Where create calls go. `baseUrl` may have a path of its own; every call goes below it. */
export function createSessionAddress({ baseUrl }: { readonly baseUrl: URL }): URL {
  // Not as a relative reference, in which `//name` would be a host.
  const address = new URL(baseUrl.origin);
  address.pathname = `${baseUrl.pathname.replace(/\/+$/, '')}${PATH}`;
  return address;
}
