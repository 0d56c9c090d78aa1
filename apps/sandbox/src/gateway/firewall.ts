import { randomBytes } from 'node:crypto';
import type { Answer } from '../wire/answer.js';

/*
 * What stands in front of the gateway and answers in its place: pages for people, with a number by which an operator
 * finds the incident. None of this belongs in a log line, a metric or an error.
 */

/** The answer to a request that the firewall considers an attack, or its browser check. */
export function firewallPage(status: number): Answer {
  return page(status, {
    title: 'Request unsuccessful',
    text: `Request unsuccessful. Incident ID: ${incident()}`,
    headers: { 'set-cookie': `visid_incap=${incident()}; path=/; HttpOnly` },
  });
}

/** The answer to a request from an address that the bank does not know. */
export function addressPage(): Answer {
  return page(403, {
    title: 'Access denied',
    text: `Error 16. Access denied for your address. Incident ID: ${incident()}`,
  });
}

interface Page {
  readonly title: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function page(status: number, { title, text, headers = {} }: Page): Answer {
  const body = `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><p>${text}</p></body></html>\n`;
  return { status, contentType: 'text/html; charset=utf-8', headers, body };
}

function incident(): string {
  return randomBytes(12).toString('hex');
}
