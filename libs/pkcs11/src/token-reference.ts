/** Which private key is meant, where it is, and which file has the PIN: a parsed RFC 7512 URI. */
export interface TokenReference {
  /** `module-path`: the shared library of the token's vendor. */
  readonly module: string;
  /** `token`: the token's label. */
  readonly token: string;
  /** `object`: the key's label. */
  readonly object?: string;
  /** `id`: the key's CKA_ID, in hex. */
  readonly id?: string;
  /** `pin-source`: the file that holds the PIN. */
  readonly pinFile: string;
}

const KNOWN = ['token', 'object', 'id', 'type', 'module-path', 'pin-source'];
const MAX_URI_CHARACTERS = 2_048;

/** What is wrong with the URI, without quoting any of its values. */
export interface UriProblem {
  readonly problem: string;
}

/** Reads `pkcs11:token=…;object=…?module-path=…&pin-source=…` (RFC 7512 section 2.3). */
export function tokenReferenceOf(uri: unknown): TokenReference | UriProblem {
  if (typeof uri !== 'string' || uri.length > MAX_URI_CHARACTERS || !uri.startsWith('pkcs11:')) {
    return { problem: 'must be a PKCS#11 URI (RFC 7512): pkcs11:token=…;object=…?module-path=…&pin-source=…' };
  }
  const attributes = attributesOf(uri.slice('pkcs11:'.length));
  return 'problem' in attributes ? attributes : checked(attributes.found);
}

/** What the URI gives, which may be incomplete. */
type Told = { readonly [Member in keyof TokenReference]?: string | undefined } & { readonly type: string };

/** Each rule, with the problem to report if it is broken. */
const rules: readonly (readonly [isKept: (told: Told) => boolean, problem: string])[] = [
  [({ module }) => module?.startsWith('/') === true, 'must give module-path, an absolute path'],
  [({ token = '' }) => token !== '', 'must give token, the label of the token'],
  [({ object, id }) => (object ?? id ?? '') !== '', 'must give object or id, the label or CKA_ID of the key'],
  [({ pinFile }) => pinFile?.startsWith('/') === true, 'must give pin-source, an absolute path of the PIN file'],
  [({ type }) => type === 'private', 'names with type something else than private'],
];

function checked(found: ReadonlyMap<string, Buffer>): TokenReference | UriProblem {
  const textOf = (name: string): string | undefined => found.get(name)?.toString('utf8');
  const [object, id] = [textOf('object'), found.get('id')?.toString('hex')];
  const told = {
    module: textOf('module-path'),
    token: textOf('token'),
    pinFile: textOf('pin-source')?.replace(/^file:(?:\/\/)?(?=\/)/, ''),
    type: textOf('type') ?? 'private',
    ...(object === undefined ? {} : { object }),
    ...(id === undefined ? {} : { id }),
  };
  const broken = rules.find(([isKept]) => !isKept(told));
  if (broken !== undefined) return { problem: broken[1] };
  const { type: _alwaysPrivate, ...reference } = told;
  return reference as TokenReference;
}

function attributesOf(text: string): { readonly found: ReadonlyMap<string, Buffer> } | UriProblem {
  const [path = '', query = ''] = text.split('?', 2);
  const found = new Map<string, Buffer>();
  for (const each of [...path.split(';'), ...query.split('&')].filter((part) => part !== '')) {
    const [name = '', value] = each.split('=', 2);
    if (name === 'pin-value') return { problem: 'must not give pin-value: a PIN is a file, named by pin-source' };
    if (!KNOWN.includes(name)) return { problem: `has an attribute that is not known; known are ${KNOWN.join(', ')}` };
    const bytes = value === undefined ? undefined : decoded(value);
    if (bytes === undefined || found.has(name)) return { problem: `gives ${name} twice, or not as RFC 7512 writes it` };
    found.set(name, bytes);
  }
  return { found };
}

/** Percent-encoded octets: an id need not be text. */
function decoded(value: string): Buffer | undefined {
  if (!/^(?:[\x21-\x24\x26-\x7e]|%[0-9a-fA-F]{2})*$/.test(value)) return undefined;
  const hex = value.replace(/%([0-9a-fA-F]{2})|([^%])/g, (_match, octet: string | undefined, plain: string) =>
    (octet ?? plain.charCodeAt(0).toString(16)).toLowerCase(),
  );
  return Buffer.from(hex, 'hex');
}
