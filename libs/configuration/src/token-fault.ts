/** RFC 6750 section 2.1. A token of any other form cannot be sent in a request. */
const TOKEN = /^[\w.~+/-]+=*$/;

/** Why a text is not a bearer token, to be read after its file's name; undefined if it is one. Never quotes it. */
export function tokenFault(text: string): string | undefined {
  if (TOKEN.test(text)) return undefined;
  return `holds no token: ${whatInstead(text)}`;
}

function whatInstead(text: string): string {
  if (text === '') return 'it is empty';
  if (text.includes('-----BEGIN ')) return 'it is PEM, such as a certificate or a key';
  if (/[\r\n]/.test(text)) return 'it has several lines';
  return 'it has characters that no token has';
}
