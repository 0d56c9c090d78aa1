/** Where notifications may go: to this machine, and to the origins that the sandbox was started with. */
export class NotificationTargets {
  readonly #origins: ReadonlySet<string>;
  readonly #ownPort: () => number | undefined;

  /** @param ownPort the port of the sandbox itself, which accepts control requests from this machine */
  constructor(origins: readonly string[], ownPort: () => number | undefined) {
    this.#origins = new Set(origins);
    this.#ownPort = ownPort;
  }

  /**
   * The URL, if a notification may be sent to it. Without this check, anyone who names a notificationUrl could make
   * requests from within the sandbox's network.
   */
  allowed(text: string): URL | undefined {
    const url = URL.parse(text);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
    if (url.username !== '' || url.password !== '') return undefined;
    if (this.#origins.has(url.origin)) return url;
    return isLoopback(url.hostname) && portOf(url) !== this.#ownPort() ? url : undefined;
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
