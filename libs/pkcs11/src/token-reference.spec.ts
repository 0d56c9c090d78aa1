import { tokenReferenceOf } from './token-reference.js';

const QUERY = '?module-path=/usr/lib/token.so&pin-source=file:/run/secrets/pin';

describe('a PKCS#11 URI', () => {
  it('names module, token, key and the file with the PIN', () => {
    expect(tokenReferenceOf(`pkcs11:token=bank;object=shop;type=private${QUERY}`)).toEqual({
      module: '/usr/lib/token.so',
      token: 'bank',
      object: 'shop',
      pinFile: '/run/secrets/pin',
    });
  });

  it('writes what is no plain character as its octets, and an id in any of them', () => {
    expect(tokenReferenceOf(`pkcs11:token=A%20bank%3B;id=%A1%00a${QUERY}`)).toMatchObject({
      token: 'A bank;',
      id: 'a10061',
    });
  });

  it('may name the file of the PIN in each of the three ways', () => {
    for (const source of ['file:/pin', 'file:///pin', '/pin']) {
      const uri = `pkcs11:token=bank;object=shop?module-path=/m.so&pin-source=${source}`;
      expect(tokenReferenceOf(uri)).toMatchObject({ pinFile: '/pin' });
    }
  });

  it.each([
    ['is no text', 7, 'PKCS#11 URI'],
    ['has another scheme', 'file:token=bank', 'PKCS#11 URI'],
    ['is longer than any', `pkcs11:token=${'x'.repeat(2_048)}`, 'PKCS#11 URI'],
    ['holds the PIN itself', `pkcs11:token=bank;object=shop${QUERY}&pin-value=canary`, 'pin-value'],
    ['has what is not known', `pkcs11:token=bank;object=shop;slot-id=canary${QUERY}`, 'not known'],
    ['says something twice', `pkcs11:token=bank;token=canary;object=shop${QUERY}`, 'token twice'],
    ['has a broken escape', `pkcs11:token=bank%2;object=shop${QUERY}`, 'token twice, or not as'],
    ['has a name without a value', `pkcs11:token;object=shop${QUERY}`, 'token twice, or not as'],
    ['names no token', `pkcs11:object=shop${QUERY}`, 'must give token'],
    ['names no key', `pkcs11:token=bank${QUERY}`, 'must give object or id'],
    ['names a public key', `pkcs11:token=bank;object=shop;type=public${QUERY}`, 'type'],
    ['names no module', 'pkcs11:token=bank;object=shop?pin-source=file:/pin', 'module-path'],
    ['names a module by a relative path', 'pkcs11:token=a;object=b?module-path=m.so&pin-source=/pin', 'module-path'],
    ['names no file for the PIN', 'pkcs11:token=bank;object=shop?module-path=/m.so', 'pin-source'],
    ['has the PIN from a program', 'pkcs11:token=a;object=b?module-path=/m.so&pin-source=|canary', 'pin-source'],
  ])('is refused when it %s, in words that repeat nothing of it', (...[, uri, rule]) => {
    const { problem } = tokenReferenceOf(uri) as { problem: string };
    expect(problem).toContain(rule);
    expect(problem).not.toContain('canary');
  });
});
