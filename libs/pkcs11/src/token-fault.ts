/**
 * Why a key in a token cannot be used. The names are a contract, listed in docs/hsm.md. They are in the order in which
 * a token is opened, so each implies that everything before it was fine.
 */
export const tokenFaults = {
  not_installed: 'the optional package pkcs11js is not there, or was not compiled: npm run build:pkcs11',
  module_not_loaded: 'the PKCS#11 module cannot be loaded: check module-path, and what the module itself needs',
  module_failed: 'the PKCS#11 module does not start: check its own configuration',
  token_absent: 'no token of that label is there: check `token`, and the connection to the device',
  token_ambiguous: 'several tokens have that label: give each its own',
  pin_unreadable: 'the PIN file cannot be read: check pin-source',
  pin_refused:
    'the token refuses the PIN; it is not tried again until the file changes, because tokens lock themselves',
  pin_locked: 'the token has locked the PIN: only its security officer can unlock it',
  key_absent: 'the token has no private key of that label or id',
  key_ambiguous: 'the token has several private keys of that label: add `id`',
  key_not_p384: 'the private key in the token is not an EC key on P-384',
  derivation_refused: 'the token refuses the agreement (CKM_ECDH1_DERIVE with CKD_NULL), or to show its result',
  no_answer: 'the token did not answer in time',
  process_ended: 'the process that talks to the token has ended; the next request starts another one',
} as const satisfies Record<string, string>;

export type TokenFault = keyof typeof tokenFaults;

/** A fault with the PKCS#11 code that it came from, e.g. `CKR_DEVICE_ERROR`. */
export class TokenError extends Error {
  readonly fault: TokenFault;
  readonly mark: string | undefined;

  constructor(fault: TokenFault, mark?: string) {
    super(mark === undefined ? fault : `${fault} (${mark})`);
    this.name = 'TokenError';
    this.fault = fault;
    this.mark = mark;
  }
}
