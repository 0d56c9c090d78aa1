export type Jwk = Readonly<Record<string, unknown>>;

/** A foreign implementation of the profile. It shares no code with ours, so a common mistake would be a coincidence. */
export interface Peer {
  /** Its name in tools/test-tools.json. */
  readonly tool: string;
  /** A private key on P-384, as the peer writes one. */
  generateKey(): Promise<Jwk>;
  /** The RFC 7638 thumbprint, SHA-256, base64url. */
  thumbprint(publicJwk: Jwk): Promise<string>;
  seal(plaintexts: readonly Buffer[], publicJwk: Jwk): Promise<readonly string[]>;
  open(jwes: readonly string[], privateJwk: Jwk): Promise<readonly Buffer[]>;
}
