import { randomBytes } from 'node:crypto';
import type { Trouble } from '../faults/fault.js';
import { jsonAnswer, type Answer } from '../wire/answer.js';
import { errorBody } from './refusal.js';

/** The answer that replaces the whole operation, which is then not carried out; undefined for other faults. */
export function substituteFor(trouble: Trouble, requestId: string): Answer | undefined {
  switch (trouble.kind) {
    case 'error': {
      const answer = jsonAnswer(errorBody(requestId, trouble), trouble.status);
      return trouble.retryAfter === undefined ? answer : { ...answer, headers: { 'retry-after': trouble.retryAfter } };
    }
    case 'redirect':
      return { status: trouble.status, headers: { location: trouble.location }, body: '' };
    case 'empty':
      return { status: trouble.status, body: '' };
    case 'garbage_body':
      return { status: trouble.status, contentType: 'text/html; charset=utf-8', body: trouble.text };
    case 'firewall_page':
      return firewallPage(trouble.status);
    default:
      return undefined;
  }
}

/** The answer of an operation that was carried out, with something missing or superfluous in it. */
export function distort(answer: Answer, trouble: Trouble): Answer {
  if (trouble.kind === 'missing_fields') return withoutJwe(answer, trouble.fields);
  if (trouble.kind !== 'oversized') return answer;
  const padding = 'a'.repeat(trouble.bytes);
  if (trouble.part === 'headers') return { ...answer, headers: { ...answer.headers, 'x-padding': padding } };
  if (!isJson(answer)) return { ...answer, body: answer.body + padding };
  return { ...answer, body: JSON.stringify({ ...(JSON.parse(answer.body) as object), padding }) };
}

function withoutJwe(answer: Answer, fields: readonly string[]): Answer {
  if (!fields.includes('jwe') || !isJson(answer)) return answer;
  const { jwe: _jwe, ...rest } = JSON.parse(answer.body) as Readonly<Record<string, unknown>>;
  return { ...answer, body: JSON.stringify(rest) };
}

function isJson({ contentType }: Answer): boolean {
  return contentType?.startsWith('application/json') === true;
}

/** For people, with a number by which an operator finds the incident: none of it belongs in a log line or an error. */
function firewallPage(status: number): Answer {
  const incident = randomBytes(12).toString('hex');
  const text = `Request unsuccessful. Incident ID: ${incident}`;
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: { 'set-cookie': `visid_incap=${incident}; path=/; HttpOnly` },
    body: `<!DOCTYPE html>\n<html><head><title>Request unsuccessful</title></head><body><p>${text}</p></body></html>\n`,
  };
}
