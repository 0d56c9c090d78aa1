import { BrokerError } from '#libs/errors';

/** @throws BrokerError `invalid_request` if the text is not an http URL */
export function echoUrlOf(text: string): URL {
  const url = /^https?:\/\/[^\s\\@#]+$/i.test(text) ? URL.parse(text) : null;
  if (url !== null) return url;
  throw new BrokerError('invalid_request', { detail: '--echo-url is an http or https URL without user or fragment' });
}
