import { FakeClock } from '#libs/testing';
import { CredentialNotice } from './credential-notice.js';

describe('the credential of a watch', () => {
  it.each([
    [false, 'The broker accepts the credential.'],
    [true, 'The broker accepts the credential again.'],
  ])('is accepted again only where the merchant had been seen before: %s', (hasBegun, words) => {
    const url = new URL('http://127.0.0.1:9');
    const state = {
      hasBegun,
      left: { kind: 'nothing', words: 'nothing is seen', facts: { streamOpen: false } },
    } as const;
    const told: string[] = [];
    const notice = new CredentialNotice({
      ...{ clock: new FakeClock(), merchant: 'shop', state },
      broker: { urls: [url], token: () => Promise.resolve('wrong'), hasToken: true, ca: undefined },
      tell: (said) => void told.push(said.words),
    });
    notice.refused(
      [{ url, error: { code: 'unauthenticated', message: 'not known', status: 401 }, fault: 'refused' }],
      false,
    );
    notice.accepted();
    expect(told.slice(1)).toEqual([words]);
  });
});
