import fc from 'fast-check';
import { ConfigurationError, type Fault } from './fault.js';
import { parseEgressConfiguration } from './load-configuration.js';

const CANARY = 'Zk7canaryQ';
const ALIASES = ['337d9304-0368-11ed-b939-0242ac120002', '437d9304-0368-11ed-b939-0242ac120002'];
const TOKENS = ['ab'.repeat(32), 'cd'.repeat(32)];

/** Each value is correct on its own, and there are few enough of them to cause contradictions. */
const name = fc.constantFrom(CANARY, `${CANARY}2`, 'shop');
const token = fc.record({ sha256: fc.constantFrom(...TOKENS) });
const client = fc.record(
  {
    name,
    merchant: fc.constantFrom(CANARY.toLowerCase(), 'shop'),
    token,
    formerToken: token,
    certificate: name,
    publicKeyFile: name,
    serviceCodeAlias: fc.constantFrom(...ALIASES),
    serviceCodeAliasFile: name,
  },
  { requiredKeys: ['name', 'merchant'] },
);
const route = fc.record(
  {
    path: fc.constantFrom('/**', `/${CANARY}/**`, `/${CANARY}/a`, `/*/a`, '/api-gateway/authorize_virtual_device'),
    body: fc.constantFrom('clear', 'sealed'),
    encrypted: fc.array(name, { maxLength: 2 }),
    maxBytes: fc.constantFrom(1, 65_536, 65_537),
  },
  { requiredKeys: ['path', 'body'] },
);
const tls = fc.record({ caFile: name, certFile: name, keyFile: name }, { requiredKeys: [] });
const url = fc.constantFrom(`http://${CANARY}/`, `https://${CANARY}/`, 'http://localhost/', 'https://localhost/');
const egress = fc.record(
  {
    listen: fc.record(
      {
        host: fc.constantFrom(CANARY, '127.0.0.1'),
        port: fc.constantFrom(8090, 0),
        tls: fc.record(
          { certFile: name, keyFile: name, clientCaFile: name },
          { requiredKeys: ['certFile', 'keyFile'] },
        ),
      },
      { requiredKeys: [] },
    ),
    management: fc.record({ port: fc.constantFrom(8090, 0) }),
    broker: fc.record({ url, tokenFile: name, tls }, { requiredKeys: ['url'] }),
    gateway: fc.record(
      { baseUrl: url, environment: fc.constantFrom('production', 'test'), tls: fc.record({ caFile: name }) },
      { requiredKeys: ['baseUrl'] },
    ),
    aliasKeyFiles: fc.array(name, { maxLength: 3 }),
    clients: fc.array(client, { minLength: 1, maxLength: 3 }),
    routes: fc.array(route, { minLength: 1, maxLength: 4 }),
  },
  { requiredKeys: ['broker', 'gateway', 'clients'] },
);

function said(raw: object): readonly Fault[] {
  try {
    return parseEgressConfiguration(JSON.stringify({ egress: raw }), {}).warnings;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}

describe('what the settings of an egress say against each other', () => {
  it('quotes no value', () => {
    fc.assert(
      fc.property(egress, (raw) => {
        expect(JSON.stringify(said(raw)).toLowerCase()).not.toContain(CANARY.toLowerCase());
      }),
      { numRuns: 50 },
    );
  });
});
