import { createHash } from 'node:crypto';
import * as rules from './value-rule.js';
import type { TextRule } from './value-rule.js';

const UUID = '137d9304-0368-11ed-b939-0242ac120002';
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
    good: ['/pay', '/ecom/*/status', '/**', '/v1/*/**', '/.well-known/a.b', "/a-b_c~1!$&'()+,;=:@"],
    bad: [
      ...['', '/', 'ecom/pay', '/ecom//pay', '/ecom/', '/ecom/../admin', '/ecom/%2e%2e/admin', '/ecom?a=b', '/ecom\n'],
      ...['/оплата', '/ecom/pay*', '/**/pay', `/${'a'.repeat(512)}`],
    ],
  },
  uuid: {
    rule: rules.uuid,
    good: [UUID, UUID.toUpperCase()],
    bad: ['', UUID.replaceAll('-', ''), ` ${UUID}`, `${UUID}\n`, UUID.replace(/.$/, 'g')],
  },
  merchantId: {
    rule: rules.merchantId,
    good: ['a', '1', 'shop', 'shop-1', 'a'.repeat(63)],
    bad: ['', 'Shop', '-a', 'a-', 'a_b', 'a.b', '*', 'a/b', 'a'.repeat(64), 'shop\n'],
  },
  sha256Hex: {
    rule: rules.sha256Hex,
    good: ['ab'.repeat(32), 'AB'.repeat(32), '1'.repeat(64)],
    bad: ['', 'zz'.repeat(32), 'ab'.repeat(33), createHash('sha256').digest('hex')],
  },
  publicKeyPin: {
    rule: rules.publicKeyPin,
    good: [PIN],
    bad: ['', PIN.slice(7), PIN.replace('sha256', 'sha1'), PIN.slice(0, -1), `${PIN}=`, PIN.replace(/.=$/, 'B=')],
  },
  attachmentName: {
    rule: rules.attachmentName,
    good: ['jwe', 'x-request_data', 'a1'],
    bad: ['', ' jwe', 'a b', 'a:b', 'a\r\nb', '_a', '__proto__', 'a'.repeat(65)],
  },
  baseUrl: {
    rule: rules.baseUrl,
    good: ['http://127.0.0.1:8081', 'https://a.example/prefix/', 'https://a.example/@a', 'HTTPS://a.example'],
    bad: [
      ...[
        '',
        'a.example',
        'https:///a.example',
        'https://u:p@a.example',
        'https://@a.example',
        'https://a.example?x=1',
      ],
      ...['https://a.example/?', 'https://a b.example', 'https://a.example\\@evil.example', 'https://a.example:99999'],
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
