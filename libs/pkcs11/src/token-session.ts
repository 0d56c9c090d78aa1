import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pkcs11js from 'pkcs11js';
import type { Handle, PKCS11, Template } from 'pkcs11js';
import type { TokenReference } from './token-reference.js';
import { TokenError, type TokenFault } from './token-fault.js';

export type Pkcs11 = typeof pkcs11js;

/** secp384r1 as CKA_EC_PARAMS has it: a named curve, in DER. */
const P384 = Buffer.from('06052b81040022', 'hex');
const SECRET_BYTES = 48;
const MAX_SLOTS = 1_024;

interface OpenKey {
  readonly session: Handle;
  readonly key: Handle;
}

/** What a token says about a key. */
export interface KeyFacts {
  /** True if the token would give out the private key, or says that it once could. */
  readonly extractable: boolean;
}

/** One PKCS#11 module in this process: initialised once, with one logged-in session for each token. */
export class TokenModule {
  readonly #pkcs11: Pkcs11;
  readonly #path: string;
  #module: PKCS11 | undefined;
  readonly #sessions = new Map<string, Handle>();
  readonly #refusedPins = new Map<string, string>();

  constructor(pkcs11: Pkcs11, path: string) {
    this.#pkcs11 = pkcs11;
    this.#path = path;
  }

  /**
   * The x coordinate of the key's agreement with a point.
   * @param point uncompressed, checked to be on the curve
   * @throws TokenError
   */
  derive(reference: TokenReference, point: Buffer): Promise<Buffer> {
    return this.#again(reference, (open) => this.#derive(open, point));
  }

  /** @throws TokenError */
  inspect(reference: TokenReference): Promise<KeyFacts> {
    return this.#again(reference, ({ session, key }) => {
      const { CKA_EXTRACTABLE, CKA_NEVER_EXTRACTABLE } = this.#pkcs11;
      const told = this.#loaded().C_GetAttributeValue(session, key, [
        { type: CKA_EXTRACTABLE },
        { type: CKA_NEVER_EXTRACTABLE },
      ]);
      const [extractable, never] = told.map(({ value }) => value[0] === 1);
      return { extractable: extractable === true || never !== true };
    });
  }

  /** An ended session, or a device that was away, only shows at the next use: then everything is reopened, once. */
  async #again<Result>(reference: TokenReference, use: (open: OpenKey) => Result): Promise<Result> {
    try {
      return use(await this.#open(reference));
    } catch (error) {
      if (!isWorthAnother(error)) throw error;
      this.#forget();
    }
    const open = await this.#open(reference);
    return marked('derivation_refused', () => use(open));
  }

  async #open(reference: TokenReference): Promise<OpenKey> {
    const session = this.#sessions.get(reference.token) ?? (await this.#login(reference));
    return { session, key: marked('key_absent', () => this.#find(session, reference)) };
  }

  #loaded(): PKCS11 {
    if (this.#module !== undefined) return this.#module;
    const module = new this.#pkcs11.PKCS11();
    try {
      module.load(this.#path);
    } catch {
      // The loader's message names paths on this machine, and is no help anywhere else.
      throw new TokenError('module_not_loaded');
    }
    try {
      marked('module_failed', () => module.C_Initialize());
    } catch (error) {
      module.close();
      throw error;
    }
    this.#module = module;
    return module;
  }

  async #login({ token, pinFile }: TokenReference): Promise<Handle> {
    const { CKF_SERIAL_SESSION, CKU_USER } = this.#pkcs11;
    const module = this.#loaded();
    const slot = marked('token_absent', () => this.#slotOf(module, token));
    const pin = await readPin(pinFile);
    const digest = createHash('sha256').update(pin).digest('hex');
    if (this.#refusedPins.get(token) === digest) throw new TokenError('pin_refused');
    const session = marked('token_absent', () => module.C_OpenSession(slot, CKF_SERIAL_SESSION));
    try {
      marked('pin_refused', () => module.C_Login(session, CKU_USER, pin));
    } catch (error) {
      module.C_CloseSession(session);
      if (error instanceof TokenError && error.mark === 'CKR_PIN_INCORRECT') this.#refusedPins.set(token, digest);
      throw error instanceof TokenError ? loginFault(error) : error;
    }
    this.#refusedPins.delete(token);
    this.#sessions.set(token, session);
    return session;
  }

  #slotOf(module: PKCS11, label: string): Handle {
    const slots = module.C_GetSlotList(true).slice(0, MAX_SLOTS);
    const [slot, other] = slots.filter((one) => module.C_GetTokenInfo(one).label.trimEnd() === label);
    if (slot === undefined) throw new TokenError('token_absent');
    if (other !== undefined) throw new TokenError('token_ambiguous');
    return slot;
  }

  #find(session: Handle, { object, id }: TokenReference): Handle {
    const { CKA_CLASS, CKA_LABEL, CKA_ID, CKO_PRIVATE_KEY, CKA_EC_PARAMS } = this.#pkcs11;
    const wanted: Template = [
      { type: CKA_CLASS, value: CKO_PRIVATE_KEY },
      ...(object === undefined ? [] : [{ type: CKA_LABEL, value: object }]),
      ...(id === undefined ? [] : [{ type: CKA_ID, value: Buffer.from(id, 'hex') }]),
    ];
    const module = this.#loaded();
    module.C_FindObjectsInit(session, wanted);
    const [key, other] = found(module, session);
    if (key === undefined) throw new TokenError('key_absent');
    if (other !== undefined) throw new TokenError('key_ambiguous');
    const [parameters] = marked('key_not_p384', () =>
      module.C_GetAttributeValue(session, key, [{ type: CKA_EC_PARAMS }]),
    );
    if (!P384.equals(parameters?.value as Buffer)) throw new TokenError('key_not_p384');
    return key;
  }

  #derive({ session, key }: OpenKey, point: Buffer): Buffer {
    const p11 = this.#pkcs11;
    const module = this.#loaded();
    const parameter = { type: p11.CK_PARAMS_EC_DH, kdf: p11.CKD_NULL, publicData: point };
    const secret = module.C_DeriveKey(session, { mechanism: p11.CKM_ECDH1_DERIVE, parameter }, key, [
      { type: p11.CKA_CLASS, value: p11.CKO_SECRET_KEY },
      { type: p11.CKA_KEY_TYPE, value: p11.CKK_GENERIC_SECRET },
      { type: p11.CKA_TOKEN, value: false },
      { type: p11.CKA_SENSITIVE, value: false },
      { type: p11.CKA_EXTRACTABLE, value: true },
      { type: p11.CKA_VALUE_LEN, value: SECRET_BYTES },
    ]);
    try {
      const [value] = module.C_GetAttributeValue(session, secret, [{ type: p11.CKA_VALUE }]);
      const octets = value?.value as Buffer;
      if (octets.byteLength !== SECRET_BYTES) throw new TokenError('derivation_refused');
      return octets;
    } finally {
      module.C_DestroyObject(session, secret);
    }
  }

  #forget(): void {
    this.#sessions.clear();
    const module = this.#module;
    this.#module = undefined;
    try {
      module?.C_Finalize();
    } catch (error) {
      // A module whose device is gone may refuse that too; its next start will say what is wrong.
      if (!(error instanceof this.#pkcs11.NativeError)) throw error;
    }
    module?.close();
  }
}

/** What only a person can fix is not tried again: a second wrong PIN brings the token closer to locking itself. */
function isWorthAnother(error: unknown): boolean {
  const lasting: readonly TokenFault[] = ['module_not_loaded', 'pin_unreadable', 'pin_refused', 'pin_locked'];
  return !(error instanceof TokenError && lasting.includes(error.fault));
}

function found(module: PKCS11, session: Handle): readonly Handle[] {
  try {
    return module.C_FindObjects(session, 2);
  } finally {
    module.C_FindObjectsFinal(session);
  }
}

async function readPin(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch {
    throw new TokenError('pin_unreadable');
  }
}

/** Tells other failures of a login from a wrong PIN. */
function loginFault(error: TokenError): TokenError {
  if (error.mark === 'CKR_PIN_LOCKED') return new TokenError('pin_locked', error.mark);
  return error.mark?.startsWith('CKR_PIN') === true ? error : new TokenError('token_absent', error.mark);
}

/** Only the code of a PKCS#11 error is passed on. */
function marked<Result>(fault: TokenFault, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    if (error instanceof TokenError) throw error;
    const mark = error instanceof Error && /^CKR_[A-Z0-9_]{1,60}$/.test(error.message) ? error.message : undefined;
    throw new TokenError(fault, mark);
  }
}
