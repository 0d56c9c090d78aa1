import { isError } from './platform-errors.js';

/** The form of a host name, and nothing that a message should not repeat. */
const HOST = /^[A-Za-z0-9._:-]{1,253}$/;
const MAX_DEPTH = 5;

/** Scheme, host and port of anything with a URL, such as a request or its answer. The rest may hold a secret. */
export const originOf = (asked: unknown): string | undefined => urlOf(asked)?.origin;

/** Whether it asks for a hosted page order. */
export const isOfOrder = (asked: unknown): boolean => urlOf(asked)?.pathname.endsWith('/create-order') === true;

function urlOf(asked: unknown): URL | undefined {
  if (typeof asked !== 'object' || asked === null || !('url' in asked)) return undefined;
  const { url } = asked;
  if (typeof url !== 'string' || !/^https?:/i.test(url) || !URL.canParse(url)) return undefined;
  return new URL(url);
}

interface FailedConnection {
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}

/** The address that was tried, as far as the system's errors say; only the host if the name was not resolved. */
export function addressIn(failures: readonly unknown[]): string | undefined {
  return failures.map((failure) => addressOf(failure)).find((address) => address !== undefined);
}

function addressOf(failure: unknown, depth = 0): string | undefined {
  if (!isError(failure) || depth > MAX_DEPTH) return undefined;
  const { hostname, address, port } = failure as FailedConnection;
  const host = [hostname, address].find((name) => typeof name === 'string' && HOST.test(name)) as string | undefined;
  if (host === undefined) return addressOf(failure.cause, depth + 1);
  const written = host.includes(':') ? `[${host}]` : host;
  return typeof port === 'number' ? `${written}:${port}` : written;
}
