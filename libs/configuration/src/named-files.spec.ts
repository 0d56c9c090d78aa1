import { namedFiles } from './named-files.js';
import { parseConfiguration } from './parse-configuration.js';

const yaml = `
http: { host: 127.0.0.1, port: 8080 }
management: { host: 127.0.0.1, port: 9464 }
store:
  type: redis
  cluster: ["10.0.0.1:6379"]
  passwordFile: redis.password
  tls: { caFile: /etc/ca.pem, certFile: own.pem, keyFile: own.key }
auth: { disabled: true }
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

describe('namedFiles', () => {
  it('finds every file that a setting names, with its path and who may read it', () => {
    const found = namedFiles(parseConfiguration(yaml, {}), '/srv/broker');
    expect(found.map(({ path, file, content }) => `${path} ${file} ${content}`).sort()).toEqual([
      'merchants[0].clientKeyFiles[0] /srv/broker/shop/new.json secret',
      'merchants[0].clientKeyFiles[1] /srv/broker/shop/old.json secret',
      'merchants[0].gateway.requestData.recipientKeyFile /srv/broker/bank.json public',
      'merchants[0].serviceCodeFile /srv/broker/shop/code secret',
      'merchants[1].clientKeyFiles[0] /srv/broker/other.json secret',
      'merchants[1].gateway.tls.caFile /srv/broker/bank-ca.pem certificates',
      'store.passwordFile /srv/broker/redis.password secret',
      'store.tls.caFile /etc/ca.pem certificates',
      'store.tls.certFile /srv/broker/own.pem certificates',
      'store.tls.keyFile /srv/broker/own.key secret',
    ]);
  });
});
