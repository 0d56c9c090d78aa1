import { aServerPublicKey } from '#libs/testing';

/** What a fake broker answers: one session, in the form of the contract. */
export function sessionDocument(): Record<string, unknown> {
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  return {
    merchant: 'shop',
    generation: 7,
    authToken: 'auth-token',
    deviceId: 'device-id',
    refreshToken: 'refresh-token',
    serverPublic: aServerPublicKey(),
    clientKeyThumbprint: 'thumbprint',
    createdAt: at(0),
    expiresAt: '2099-11-20T12:34:52.998Z',
    renewAt: at(800_000),
    expiresInMs: 900_000,
    renewInMs: 800_000,
  };
}
