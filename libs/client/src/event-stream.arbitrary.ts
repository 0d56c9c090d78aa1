import fc from 'fast-check';
import type { ServerSentEvent } from './sse-parser.js';

const PIECES = [
  ...['data', 'event', 'id', 'retry', ':', ': ', ' ', '\n', '\r', '\r\n', '\n\n'],
  ...['x', 'é', '😀', '\0', '1', '\uFEFF'],
];

/** Pieces of event stream syntax, in any order. */
export const piecesOfEventStream = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 120 })
  .map((pieces) => pieces.join(''));

/** The octets cut into pieces that end at these positions; positions beyond the end are ignored. */
export function cutAt(octets: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.filter((end) => end < octets.length).sort((a, b) => a - b), octets.length];
  return ends.map((end, index) => octets.subarray(ends[index - 1] ?? 0, end));
}

/** The standard's wording applied to the whole text at once: an independent way to the same events. */
export function readAtOnce(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  let id = '';
  const blocks = text
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n')
    .split('\n');
  blocks.pop();
  let [type, data]: [string, string | undefined] = ['', undefined];
  const takeField = (field: string, value: string): void => {
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (field === 'event') type = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
  };
  for (const line of blocks) {
    const [, field = '', , value = ''] = /^([^:]*)(: ?([^]*))?$/.exec(line) ?? [];
    if (line !== '') takeField(field, value);
    else {
      if (data !== undefined) events.push({ type: type || 'message', data, id });
      [type, data] = ['', undefined];
    }
  }
  return events;
}
