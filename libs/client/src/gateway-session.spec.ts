import { aDocument } from '../fixtures/scripted-broker.js';
import { toGatewaySession } from './gateway-session.js';
import { readSession } from './session.js';

const at = (expiresAt: string): string =>
  toGatewaySession(readSession({ ...aDocument(), expiresAt }, 'shop')).tokenExpirationDateTime;

describe('a session in the form of the gateway', () => {
  it('has the members that merchant SDKs take, and no others', () => {
    expect(toGatewaySession(readSession(aDocument(), 'shop'))).toEqual({
      authToken: 'auth-token-1',
      refreshToken: 'refresh-token-1',
      deviceId: 'device-id-1',
      serverPublic: aDocument()['serverPublic'],
      tokenExpirationDateTime: '2026-01-01 00:15:00.0000 +0000',
      tokenExpiration: '2026-01-01 00:15:00.000+00:00',
      sessionExpiration: '2026-01-01 00:15:00.000+00:00',
    });
  });

  it('has no refreshToken where the gateway gave none', () => {
    const { refreshToken: _, ...document } = aDocument();
    expect(toGatewaySession(readSession(document, 'shop'))).not.toHaveProperty('refreshToken');
  });

  it.each([
    ['2026-11-20T12:34:52.998Z', '2026-11-20 12:34:52.0998 +0000'],
    ['2026-11-20T12:34:52.04Z', '2026-11-20 12:34:52.0040 +0000'],
    ['2026-11-20T14:34:52+02:00', '2026-11-20 12:34:52.0000 +0000'],
  ])('writes %s as %s', (rfc3339, text) => {
    expect(at(rfc3339)).toBe(text);
  });

  it('is never later than the session, in whichever way the four digits are read', () => {
    const expiresAt = '2026-11-20T12:34:52.998Z';
    const [, whole, digits] = /^(.*)\.(\d{4}) \+0000$/.exec(at(expiresAt)) ?? [];
    const second = Date.parse(`${whole}Z`);
    expect(second + Number(digits)).toBe(Date.parse(expiresAt));
    expect(second + Number(`0.${digits}`) * 1_000).toBeLessThanOrEqual(Date.parse(expiresAt));
  });
});
