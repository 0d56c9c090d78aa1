import { childPath } from './fault.js';

/** A file that a configuration names. */
export interface NamedFile {
  /** The setting that names it, e.g. `merchants[0].clientKeyFiles[1]`. */
  readonly path: string;
  /** As written: a relative one starts at the folder of the configuration file. */
  readonly file: string;
  /** `secret`: nobody else should read it. */
  readonly content: 'secret' | 'certificates' | 'public';
}

const CERTIFICATES = /(?:ca|cert)File$/i;
const PUBLIC = /^(?:recipientKeyFile|jwksFile)$/;

/**
 * Every file that the settings name, in their order. Settings whose names end in `File` or `Files` name files; one that
 * is not known to be public counts as secret.
 */
export function namedFiles(settings: object): readonly NamedFile[] {
  return [...filesIn(settings, { path: '', name: '' })].map(({ path, name, file }) => ({
    path,
    file,
    content: contentOf(name),
  }));
}

interface Place {
  readonly path: string;
  /** Of the setting that the path ends with. */
  readonly name: string;
}

function* filesIn(value: unknown, place: Place): Generator<Place & { readonly file: string }> {
  if (typeof value === 'string') {
    if (/Files?$/.test(place.name)) yield { ...place, file: value };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* filesIn(item, { ...place, path: childPath(place.path, index) });
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      yield* filesIn(member, { path: childPath(place.path, name), name });
    }
  }
}

function contentOf(name: string): NamedFile['content'] {
  if (CERTIFICATES.test(name)) return 'certificates';
  return PUBLIC.test(name) ? 'public' : 'secret';
}
