import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Third-party vectors are next to the repository, not in it. */
const vectorsFolder = join(import.meta.dirname, '..', '..', '..', 'shared', 'vectors');

export type Jwk = Readonly<Record<string, string>>;

export interface Vector {
  readonly tcId: number;
  readonly comment: string;
  readonly result: 'valid' | 'invalid' | 'acceptable';
}

export interface Group<Test> {
  readonly tests: readonly (Vector & Test)[];
}

export interface Rfc7520Example {
  readonly input: { readonly plaintext: string; readonly key: Jwk };
  readonly generated: { readonly cek: string; readonly iv: string };
  readonly encrypting_key: { readonly epk: Jwk };
  readonly encrypting_content: { readonly protected: Readonly<Record<string, unknown>> };
  readonly output: { readonly compact: string };
}

/** The groups of a Wycheproof file; each vector that the file announces must be there. */
export function wycheproof<Test>(file: string): readonly Group<Test>[] {
  const parsed = read(join('wycheproof', file)) as { numberOfTests: number; testGroups: readonly Group<Test>[] };
  const count = parsed.testGroups.reduce((sum, { tests }) => sum + tests.length, 0);
  if (count !== parsed.numberOfTests)
    throw new Error(`${file} announces ${parsed.numberOfTests} vectors, has ${count}`);
  return parsed.testGroups;
}

/** RFC 7520 section 5.4: P-384 with ECDH-ES+A128KW and A128GCM, with every intermediate value. */
export function rfc7520(): Rfc7520Example {
  return read('rfc7520-5.4.json') as Rfc7520Example;
}

function read(file: string): unknown {
  return JSON.parse(readFileSync(join(vectorsFolder, file), 'utf8'));
}
