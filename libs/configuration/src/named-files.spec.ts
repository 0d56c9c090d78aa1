import { keySet } from './file-contents.js';
import { parseConfiguration } from './load-configuration.js';
import { otherReaders } from './named-files.js';

const yaml = `
http: { host: 127.0.0.1, port: 8080 }
management: { host: 127.0.0.1, port: 9464 }
store:
  type: redis
  cluster: ["10.0.0.1:6379"]
  passwordFile: redis.password
  tls: { caFile: /etc/ca.pem, certFile: own.pem, keyFile: own.key }
auth:
  tokens: []
  jwt: { issuer: "https://issuer.example", audience: broker, jwksFile: jwks.json }
merchants:
  - id: shop
    serviceCodeFile: shop/code
    clientKeyFiles: [shop/new.json, shop/old.json]
    gateway:
      baseUrl: https://gateway.example
      environment: test
      requestData: { attach: body, name: jwe, recipientKeyFile: bank.json }
  - id: other
    serviceCode: 137d9304-0368-11ed-b939-0242ac120002
    clientKeyFiles: [other.json]
    gateway: { baseUrl: "https://gateway.example", environment: test, tls: { caFile: bank-ca.pem } }
`;

describe('the files of a configuration', () => {
  it('are those that any setting names, with its path and who may read them', () => {
    const found = parseConfiguration(yaml, {}).files;
    expect(found.map(({ path, file, content }) => `${path} ${file} ${content}`).sort()).toEqual([
      'auth.jwt.jwksFile jwks.json public',
      'merchants[0].clientKeyFiles[0] shop/new.json secret',
      'merchants[0].clientKeyFiles[1] shop/old.json secret',
      'merchants[0].gateway.requestData.recipientKeyFile bank.json public',
      'merchants[0].serviceCodeFile shop/code secret',
      'merchants[1].clientKeyFiles[0] other.json secret',
      'merchants[1].gateway.tls.caFile bank-ca.pem certificates',
      'store.passwordFile redis.password secret',
      'store.tls.caFile /etc/ca.pem certificates',
      'store.tls.certFile own.pem certificates',
      'store.tls.keyFile own.key secret',
    ]);
  });
});

describe('a secret file', () => {
  it.each([
    ['of the broker, for it alone', 0o100600, true, undefined],
    ['of the broker, which its group may read', 0o100640, true, 'its group'],
    ['of the broker, which anybody may read', 0o100604, true, 'every user of the machine'],
    ['of root, which the broker reads through its group', 0o100440, false, undefined],
    ['of root, which a group may write', 0o100460, false, 'its group'],
    ['of root, which anybody may read', 0o100444, false, 'every user of the machine'],
  ])('%s', (...[, mode, isOwn, readers]) => {
    expect(otherReaders(mode, isOwn)).toBe(readers);
  });
});

describe('a file of public keys', () => {
  it.each([
    '[]',
    '{}',
    '{"keys":[]}',
    '{"keys":[1]}',
    '{"keys":{}}',
    '{"keys":[{}, {"d": ""}]}',
    '{"keys":[{"k": ""}]}',
  ])('is not %s', (text) => {
    expect(keySet.read(text, 'jwks.json', {} as never)).toHaveProperty('problem');
  });
});
