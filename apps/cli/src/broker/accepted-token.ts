/**
 * The token with which the merchant was last shown. Its file is read afresh for each request, so the token may be
 * exchanged: if another token does not show the merchant, that says something about the token and not about the
 * merchant.
 */
export class AcceptedToken {
  /** As it is sent; undefined until something has been shown. */
  #authorization: { readonly text: string | undefined } | undefined;

  noteShown(authorization: string | undefined): void {
    this.#authorization = { text: authorization };
  }

  /** Whether anything was shown. */
  get hasShown(): boolean {
    return this.#authorization !== undefined;
  }

  /** Whether something was shown before, but with another token. */
  isExchangedFor(authorization: string | undefined): boolean {
    return this.#authorization !== undefined && this.#authorization.text !== authorization;
  }
}

/** The header that carries a token. */
export const bearer = (token: string | undefined): string | undefined =>
  token === undefined ? undefined : `Bearer ${token}`;
