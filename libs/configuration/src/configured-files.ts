import { createPrivateKey, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { BrokerError } from '#libs/errors';
import { importClientKey, importPaymentKey } from '#libs/jwe';
import type { JsonWebKeySet } from './broker-configuration.js';
import type { Fault, Warning } from './fault.js';
import { otherReaders, type Ownership } from './other-readers.js';
import { type FileContent, readTextFile } from './read-file.js';
import { uuid } from './value-rule.js';

const MAX_KEY_BYTES = 65_536;
const MAX_CODE_BYTES = 1_024;
const MAX_CA_BYTES = 1_048_576;
const MAX_KEY_SET_BYTES = 262_144;

/** Reads the files that a configuration names, and collects what is wrong with them under the path that names each. */
export class ConfiguredFiles {
  readonly faults: Fault[] = [];
  readonly warnings: Warning[] = [];
  readonly #folder: string;

  /** @param folder where relative paths start: the folder of the configuration file */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** For a file that is read again and again while the broker runs. */
  absolute(file: string): string {
    return resolve(this.#folder, file);
  }

  async clientKey(file: string, path: string): Promise<Awaited<ReturnType<typeof importClientKey>> | undefined> {
    const jwk = this.#json(await this.#secret(file, MAX_KEY_BYTES, path), path);
    return jwk === undefined ? undefined : this.#imported(() => importClientKey(jwk.value), path);
  }

  async recipientKey(file: string, path: string): Promise<Awaited<ReturnType<typeof importPaymentKey>> | undefined> {
    const jwk = this.#json(await this.#read(file, MAX_KEY_BYTES, path), path);
    return jwk === undefined ? undefined : this.#imported(() => importPaymentKey(jwk.value), path);
  }

  async serviceCode(file: string, path: string): Promise<string | undefined> {
    const code = (await this.#secret(file, MAX_CODE_BYTES, path))?.trim();
    if (code === undefined || uuid.accepts(code)) return code;
    return this.#fault(path, `must hold ${uuid.expects}, and nothing else`);
  }

  /** Without the line feed at its end, which editors add. */
  async password(file: string, path: string): Promise<string | undefined> {
    const password = (await this.#secret(file, MAX_CODE_BYTES, path))?.replace(/\r?\n$/, '');
    return password === '' ? this.#fault(path, 'names an empty file') : password;
  }

  async privateKey(file: string, path: string): Promise<string | undefined> {
    const pem = await this.#secret(file, MAX_KEY_BYTES, path);
    if (pem === undefined || /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) return pem;
    return this.#fault(path, 'names a file without a PEM private key');
  }

  /** A certificate with the key of another one is found now, and not at the first connection. */
  assertPair({ cert, key }: { cert: string; key: string }, path: string): void {
    if (!isPair(cert, key)) this.#fault(path, 'names a key that does not belong to the certificate');
  }

  async keySet(file: string, path: string): Promise<JsonWebKeySet | undefined> {
    const json = this.#json(await this.#read(file, MAX_KEY_SET_BYTES, path), path);
    if (json === undefined) return undefined;
    if (isKeySet(json.value)) return json.value;
    return this.#fault(path, 'names a file that is no JSON Web Key Set: {"keys": [...]} with at least one public key');
  }

  async certificates(file: string, path: string): Promise<string | undefined> {
    const pem = await this.#read(file, MAX_CA_BYTES, path);
    if (pem === undefined) return undefined;
    const problem = certificatesProblem(pem);
    return problem === undefined ? pem : this.#fault(path, problem);
  }

  /** A file whose content nobody else should read: the permissions are looked at as well. */
  async #secret(file: string, maxBytes: number, path: string): Promise<string | undefined> {
    const content = await this.#content(file, maxBytes);
    if (content.kind === 'text') this.#warnOfReaders(content.ownership, path);
    return this.#textOf(content, path);
  }

  async #read(file: string, maxBytes: number, path: string): Promise<string | undefined> {
    return this.#textOf(await this.#content(file, maxBytes), path);
  }

  #content(file: string, maxBytes: number): Promise<FileContent> {
    return readTextFile(resolve(this.#folder, file), maxBytes);
  }

  #textOf(content: FileContent, path: string): string | undefined {
    return content.kind === 'text' ? content.text : this.#fault(path, `names a file that ${content.problem}`);
  }

  #warnOfReaders(ownership: Ownership, path: string): void {
    const readers = otherReaders(ownership);
    if (readers === undefined) return;
    this.warnings.push({
      path,
      problem: `names a secret file that is open to ${readers}; set its mode to 0600 or 0400`,
    });
  }

  #json(text: string | undefined, path: string): { readonly value: unknown } | undefined {
    if (text === undefined) return undefined;
    try {
      return { value: JSON.parse(text) };
    } catch (error) {
      // The parser's message quotes the text, and the text is a key.
      if (error instanceof SyntaxError) return this.#fault(path, 'names a file that is not JSON; expected a JWK');
      throw error;
    }
  }

  async #imported<T>(importKey: () => Promise<T>, path: string): Promise<T | undefined> {
    try {
      return await importKey();
    } catch (error) {
      if (!(error instanceof BrokerError) || error.code !== 'jwk_invalid') throw error;
      return this.#fault(path, `names a key that is not acceptable: ${error.detail ?? 'it is not a JWK'}`);
    }
  }

  #fault(path: string, problem: string): undefined {
    this.faults.push({ path, problem });
    return undefined;
  }
}

function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    // OpenSSL's own words help nobody here, and may quote the key: what it cannot read is no key of the certificate.
    return false;
  }
}

function isKeySet(value: unknown): value is JsonWebKeySet {
  if (typeof value !== 'object' || value === null || !('keys' in value) || !Array.isArray(value.keys)) return false;
  // A private or secret key in here would be one that signs tokens, in a file that is not kept as a secret.
  const isPublic = (key: unknown): boolean => typeof key === 'object' && key !== null && !('d' in key || 'k' in key);
  return value.keys.length > 0 && value.keys.every(isPublic);
}

function certificatesProblem(pem: string): string | undefined {
  if (/PRIVATE KEY-----/.test(pem)) return 'names a file with a private key in it; give the certificates alone';
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return 'names a file without a PEM certificate';
  return blocks.every(isCertificate) ? undefined : 'names a file with a damaged certificate';
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    // OpenSSL's own reasons help nobody here: what does not parse is damaged.
    return false;
  }
}
