import { resolve } from 'node:path';
import { childPath } from './fault.js';
import type { ParsedConfiguration } from './parsed-configuration.js';

/** A file that a configuration names. */
export interface NamedFile {
  /** The setting that names it, e.g. `merchants[0].clientKeyFiles[1]`. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  /** `secret`: nobody else should read it. */
  readonly content: 'secret' | 'certificates' | 'public';
}

const CERTIFICATES = /(?:ca|cert)File$/i;
const PUBLIC = /^(?:recipientKeyFile|jwksFile)$/;

/**
 * Every file that the settings name, in the order of the settings. Settings that end in `File` or `Files` name files;
 * one that is not known to be public counts as secret.
 * @param folder where relative paths start: the folder of the configuration file
 */
export function namedFiles(parsed: ParsedConfiguration, folder: string): readonly NamedFile[] {
  return [...filesIn(parsed, { path: '', name: '' })].map(({ path, name, file }) => ({
    path,
    file: resolve(folder, file),
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
  } else if (isPlain(value)) {
    // A choice between a value and a file; the setting of the latter is named after the former.
    if (value['kind'] === 'file') {
      yield { path: `${place.path}File`, name: `${place.name}File`, file: String(value['file']) };
    } else {
      for (const [name, member] of Object.entries(value)) {
        yield* filesIn(member, { path: childPath(place.path, name), name });
      }
    }
  }
}

function contentOf(name: string): NamedFile['content'] {
  if (CERTIFICATES.test(name)) return 'certificates';
  return PUBLIC.test(name) ? 'public' : 'secret';
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
