import { type AnswerHeaders, listOf } from '#libs/outbound';

/** Headers of one connection, not of the message (RFC 9110 section 7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const ALWAYS: ReadonlySet<string> = new Set(HOP_BY_HOP);

/** The names of the headers that end at this hop: the well-known ones, and those listed in `Connection`. */
export function hopByHopOf(headers: AnswerHeaders): ReadonlySet<string> {
  const { connection } = headers;
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return ALWAYS;
  return new Set([...HOP_BY_HOP, ...listOf(headers, 'connection')]);
}
