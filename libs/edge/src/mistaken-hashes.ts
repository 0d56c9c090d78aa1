import { digestOf } from './bearer-token.js';

/** A hash in the configuration, where it is, and who its token lets in. */
export interface ConfiguredHash {
  /** Such as `auth.tokens[0].sha256`. */
  readonly setting: string;
  readonly owner: string;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Notices a token that is, character by character, what a setting holds as the hash of a token: a token of 64
 * hexadecimal digits has the form of a SHA-256, and nothing else shows that the two were confused.
 */
export class MistakenHashes {
  /** By a digest of the hash: the lookup key for what an attacker presents cannot be steered byte by byte. */
  readonly #hashes: ReadonlyMap<string, ConfiguredHash>;
  readonly #told = new Set<string>();

  constructor(hashes: readonly ConfiguredHash[]) {
    this.#hashes = new Map(hashes.map((each) => [digestOf(each.sha256), each]));
  }

  /**
   * @param token one that was refused
   * @returns whose hash it is; once per owner
   */
  noticedFirst(token: string): ConfiguredHash | undefined {
    const mistaken = this.#hashes.get(digestOf(token.toLowerCase()));
    if (mistaken === undefined || this.#told.has(mistaken.owner)) return undefined;
    this.#told.add(mistaken.owner);
    return mistaken;
  }
}

/** What to do about it, as the message of a log line. Which of the two mistakes it is cannot be known here. */
export const HASH_PRESENTED =
  'a token was refused that is the very text which this setting holds as the hash of one: if the token was written there, ' +
  'make a new one, since it stood in the file, write the hash of that there, and give it to the caller; ' +
  'if the caller was given the hash, give it the token';
