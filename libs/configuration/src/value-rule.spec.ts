import * as rules from './value-rule.js';
import type { TextRule } from './value-rule.js';

const PIN = `sha256/${Buffer.alloc(32, 7).toString('base64')}`;

interface Table {
  readonly rule: TextRule<unknown>;
  readonly good: readonly string[];
  readonly bad: readonly string[];
}

const tables: Record<string, Table> = {
  hostName: {
    rule: rules.hostName,
    good: ['127.0.0.1', '::1', 'localhost', 'broker.shop-1.svc', '0.0.0.0'],
    bad: ['', 'a:80', 'a b', 'http://a', '-a', 'a..b', '[::1]', 'a/b', `${'a'.repeat(64)}.b`],
  },
  routePath: {
    rule: rules.routePath,
    good: [
      '/pay',
      '/ecom/execute_request/**',
      '/ecom/*/status',
      '/**',
      '/*',
      '/v1/*/**',
      '/.well-known/a.b',
      "/a-b_c~1!$&'()+,;=:@",
    ],
    bad: [
      '',
      '/',
      'ecom/pay',
      '/ecom//pay',
      '/ecom/',
      '/ecom/../admin',
      '/ecom/%2e%2e/admin',
      '/ecom?a=b',
      '/ecom\n',
      '/оплата',
      '/ecom/pay*',
      '/**/pay',
      `/${'a'.repeat(512)}`,
    ],
  },
  uuid: {
    rule: rules.uuid,
    good: ['137d9304-0368-11ed-b939-0242ac120002', '137D9304-0368-11ED-B939-0242AC120002'],
    bad: [
      '',
      '137d9304036811edb9390242ac120002',
      '137d9304-0368-11ed-b939-0242ac12000g',
      ' 137d9304-0368-11ed-b939-0242ac120002',
      '137d9304-0368-11ed-b939-0242ac120002\n',
    ],
  },
  merchantId: {
    rule: rules.merchantId,
    good: ['a', '1', 'shop', 'shop-1', 'a'.repeat(63)],
    bad: ['', 'Shop', '-a', 'a-', 'a_b', 'a.b', '*', 'a/b', 'a'.repeat(64), 'shop\n'],
  },
  sha256Hex: {
    rule: rules.sha256Hex,
    good: ['ab'.repeat(32), 'AB'.repeat(32), '1'.repeat(64)],
    bad: [
      '',
      'ab',
      'zz'.repeat(32),
      'ab'.repeat(33),
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    ],
  },
  publicKeyPin: {
    rule: rules.publicKeyPin,
    good: [PIN],
    bad: [
      '',
      PIN.slice(7),
      PIN.replace('sha256', 'sha1'),
      PIN.slice(0, -1),
      `${PIN}=`,
      PIN.replace(/.=$/, 'B='),
      `${PIN}\n`,
    ],
  },
  attachmentName: {
    rule: rules.attachmentName,
    good: ['jwe', 'x-request_data', 'a1'],
    bad: ['', ' jwe', 'a b', 'a:b', 'a\r\nb', '_a', '__proto__', 'a'.repeat(65)],
  },
  baseUrl: {
    rule: rules.baseUrl,
    good: [
      'https://gateway.example',
      'http://127.0.0.1:8081',
      'https://gateway.example/prefix/',
      'https://gateway.example/@a',
      'HTTPS://gateway.example',
    ],
    bad: [
      '',
      'gateway.example',
      'https:///gateway.example',
      'https://u:p@gateway.example',
      'https://@gateway.example',
      'https://gateway.example?x=1',
      'https://gateway.example/?',
      'https://gate way.example',
      'https://gateway.example\\@evil.example',
      'https://gateway.example:99999',
      'file:///etc/passwd',
    ],
  },
  proxyUrl: {
    rule: rules.proxyUrl,
    good: ['http://proxy.example:3128', 'http://user:pass@proxy.example:3128/', 'https://proxy.example'],
    bad: ['', 'proxy:3128', 'socks5://proxy:1080', 'http://proxy/path', 'http://proxy/?a=b'],
  },
  timeout: {
    rule: rules.durationBetween('100ms', '60s'),
    good: ['100ms', '60s', '1m', '5s', '1.5s'],
    bad: ['', '5', '99ms', '61s', '-5s', '5 s', '5S', '1e3s', 'PT5S', '5s '],
  },
  leadTime: {
    rule: rules.leadTime,
    good: ['20%', '0.5%', '50%', '90s', '1ms', '2h'],
    bad: ['', '0%', '0s', '51%', '100%', '-1%', '20 %', '20', '%', '1e1%', '99999999d'],
  },
  callerName: {
    rule: rules.callerName,
    good: ['checkout', 'system:serviceaccount:pay/checkout', 'spiffe://td/ns/a/sa/b', '42'],
    bad: ['', 'a b', 'a\nb', 'a'.repeat(129), '"'],
  },
  keyPrefix: { rule: rules.keyPrefix, good: ['session-broker', 'a:b.c_d'], bad: ['', '{a}', 'a b', 'a'.repeat(65)] },
  fileName: {
    rule: rules.fileName,
    good: ['a', '/run/secrets/x.json', 'a b'],
    bad: ['', 'a\0b', 'a\nb', 'a'.repeat(1_025)],
  },
};

describe.each(Object.entries(tables))('the rule %s', (_name, { rule, good, bad }) => {
  it.each(good)('accepts %j', (text) => expect(rule.read(text)).toBeDefined());
  it.each(bad)('refuses %j', (text) => expect(rule.read(text)).toBeUndefined());
});

describe('an address and its port', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1:24080'],
    ['localhost', 'localhost:24080'],
    ['::', '[::]:24080'],
    ['fd00::2', '[fd00::2]:24080'],
  ])('can be told apart: %s', (host, written) => {
    expect(rules.writtenAddress({ host, port: 24_080 })).toBe(written);
  });
});
