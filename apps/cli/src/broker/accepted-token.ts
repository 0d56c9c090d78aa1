/**
 * The token with which the merchant was shown last. Its file is read anew for each question, so that it may be exchanged: what is not shown
 * with another token is a matter of that token, and not of the merchant.
 */
export class AcceptedToken {
  /** As it is sent; undefined as long as nothing was shown. */
  #authorization: { readonly text: string | undefined } | undefined;

  noteShown(authorization: string | undefined): void {
    this.#authorization = { text: authorization };
  }

  /** Whether anything was. */
  get hasShown(): boolean {
    return this.#authorization !== undefined;
  }

  /** Whether something was shown before, and not with this one. */
  isExchangedFor(authorization: string | undefined): boolean {
    return this.#authorization !== undefined && this.#authorization.text !== authorization;
  }
}

/** The header with which a token is sent. */
export const bearer = (token: string | undefined): string | undefined =>
  token === undefined ? undefined : `Bearer ${token}`;
