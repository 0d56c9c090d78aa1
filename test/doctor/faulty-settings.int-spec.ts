import { readFile } from 'node:fs/promises';
import { generateClientKey } from '#libs/jwe';
import { endedAfterEach, LoopbackServer } from '#libs/testing';
import { type Examination, Examined, messagesOf } from './examined.js';

const OTHER_CODE = 'c0ffee01-0368-41ed-b939-0242ac120002';
const REDIS_THAT_IS_DOWN = '{ type: redis, url: "redis://127.0.0.1:9/0" }';
const NAMES_OF_GATEWAY = ['gateway.dns', 'gateway.tcp', 'gateway.tls', 'gateway.http', 'gateway.clock'];
let examined: Examined;
let shop: { readonly gatewayUrl: string };
let other: { readonly gatewayUrl: string; readonly id: string; readonly serviceCode: string; readonly keyFile: string };

const started = endedAfterEach();
beforeEach(async () => {
  examined = started.add(await Examined.create(), (it) => it.remove());
  await examined.write('other.json', JSON.stringify((await generateClientKey()).privateJwk));
  const gateway = started.add(
    await LoopbackServer.http((_request, response) => void response.writeHead(405).end()),
    (it) => it.close(),
  );
  shop = { gatewayUrl: `http://127.0.0.1:${gateway.port}` };
  other = { gatewayUrl: 'http://127.0.0.1:9', id: 'other', serviceCode: OTHER_CODE, keyFile: 'other.json' };
});

async function change(from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(examined.config, 'utf8');
  expect(text).toMatch(from);
  await examined.write('broker.yaml', text.replace(from, to), 0o644);
}

/** How the checks of that name turned out, each with its subject. */
const outcomes = ({ checks }: Examination, name: string): readonly string[] =>
  checks
    .filter((check) => check.name === name)
    .map(({ subject, status, reason }) => [subject, status, reason].filter((each) => each !== undefined).join(' '));

describe('doctor: a setting that is at fault', () => {
  it('is told with all the others, and leaves out no check but those that need it', async () => {
    await examined.configure([shop, other], REDIS_THAT_IS_DOWN);
    await change(/( {2}- id: other[^]*)timeout: 2s/, '$1timeout: 2sec');
    await change('maxWatchers', 'maxWatcher');
    const report = await examined.doctor('--discover');
    expect(report.code).toBe(2);
    expect(messagesOf(report.check('configuration'), 'fault')).toEqual([
      expect.stringMatching(/^http\.maxWatcher \(line 1\) is not a setting; did you mean maxWatchers\?/),
      expect.stringMatching(/^merchants\[1\]\.gateway\.timeout \(line 14\) /),
    ]);
    expect(report.check('files')).toMatchObject({ status: 'passed', findings: [{ message: 'files: 3, folders: 1' }] });
    expect(outcomes(report, 'keys')).toEqual(['passed']);
    expect(report.check('store.connection').status).toBe('failed');
    for (const name of NAMES_OF_GATEWAY) {
      expect(outcomes(report, name)).toEqual([
        expect.stringMatching(/^127\.0\.0\.1:\d+ (?:passed|not_applicable)/),
        'other not_run it needs merchants[1].gateway.timeout, which is at fault',
      ]);
    }
    expect(report.check('session.request_data').reason).toBe('it needs the whole configuration');
  });

  it.each([
    ['of the store', '{ type: radish }', 'store.type'],
    ['that the store does not know', '{ type: memory, prefix: shop }', 'store.prefix'],
    [
      'that does not fit the others of the store',
      '{ type: redis, name: main, url: "redis://127.0.0.1:9/0" }',
      'store.name',
    ],
    ['that is the whole store', 'redis', 'store'],
  ])('leaves out the store: one %s', async (_which, store, setting) => {
    await examined.configure([shop], store);
    const report = await examined.doctor();
    expect(outcomes(report, 'store.connection')).toEqual([`not_run it needs ${setting}, which is at fault`]);
    expect(outcomes(report, 'store.rights')).toEqual([`not_run it needs ${setting}, which is at fault`]);
    expect([report.check('keys').status, report.check('gateway.http').status]).toEqual(['passed', 'passed']);
  });

  it('leaves out neither gateway nor store where it is about sessions', async () => {
    await examined.configure([{ ...shop, gateway: 'supersedes: maybe' }], '{ type: memory, onStoreOutage: stop }');
    const report = await examined.doctor();
    expect(messagesOf(report.check('configuration'), 'fault')).toHaveLength(2);
    expect([report.check('store.connection').status, report.check('gateway.http').status]).toEqual([
      ...['not_applicable', 'passed'],
    ]);
  });

  it('leaves out a merchant, named by its place, where it is the whole of it', async () => {
    await examined.configure([shop]);
    await change(/$/, '  - other\n');
    const report = await examined.doctor();
    const lacking = 'merchants[1] not_run it needs merchants[1], which is at fault';
    expect(outcomes(report, 'keys')).toEqual(['passed', lacking]);
    expect(outcomes(report, 'gateway.http')).toEqual([expect.stringMatching(/ passed$/), lacking]);
  });

  it('is all that is needed of the merchants where there are none', async () => {
    await examined.write('broker.yaml', 'http: { port: http }\n');
    const report = await examined.doctor();
    expect(messagesOf(report.check('configuration'), 'fault')).toHaveLength(2);
    for (const name of ['keys', ...NAMES_OF_GATEWAY]) {
      expect(outcomes(report, name)).toEqual(['not_run it needs merchants, which is at fault']);
    }
    expect(report.check('store.connection').status).toBe('not_applicable');
    expect(report.check('files').status).toBe('passed');
  });

  it('may be an id: the merchant is looked at without it, also when it may be the one that was asked for', async () => {
    await examined.configure([shop, { ...other, id: 'the other' }]);
    const report = await examined.doctor();
    expect(report.check('keys').facts?.['keys']).toMatchObject([{ merchant: 'shop' }, { merchant: 'merchants[1]' }]);
    expect(outcomes(report, 'gateway.tcp')).toHaveLength(2);
    expect(outcomes(await examined.doctor('--merchant', 'shop'), 'gateway.tcp')).toHaveLength(1);
    const asked = await examined.doctor('--merchant', 'other');
    expect(outcomes(asked, 'gateway.tcp')).toEqual([expect.stringMatching(/^127\.0\.0\.1:9 failed/)]);
  });

  it('says of neither of two merchants that have one id which of them it is', async () => {
    await examined.configure([shop, { ...other, id: 'shop' }]);
    const report = await examined.doctor('--merchant', 'shop');
    expect(report.check('keys').facts?.['keys']).toMatchObject([
      { merchant: 'merchants[0]' },
      { merchant: 'merchants[1]' },
    ]);
  });

  it('is told beside a variable that is not set and a file with something wrong, each check with what it needs', async () => {
    const tls = '{ caFile: none.pem }';
    await examined.configure(
      [shop],
      `{ type: redis, url: "rediss://127.0.0.1:9/0", username: "\${NAME}", typ: x, tls: ${tls} }`,
    );
    expect((await examined.doctor()).check('store.connection').reason).toBe(
      'it needs NAME, which is not set, and the file of store.tls.caFile, with which something is wrong, and store.typ, which is at fault',
    );
  });

  it('keeps a file that it names from being looked at', async () => {
    await examined.write('ca.pem', 'no certificate');
    await examined.configure([shop], '{ type: memory, tls: { caFile: ca.pem } }');
    const report = await examined.doctor();
    expect(messagesOf(report.check('configuration'), 'fault').join()).toContain('store.tls (line 3) has no effect');
    expect(report.check('certificates').status).toBe('not_applicable');
  });
});

describe('doctor: a configuration of which nothing can be known', () => {
  it.each([
    ['no YAML', (): string => 'http: { port: 8080\nmerchants: [\n'],
    ['more faults than anybody counts', (): string => `merchants:\n${'  - shop\n'.repeat(2_500)}`],
    [
      'more than a configuration holds',
      (): string => `http: { host: &h ${'x'.repeat(8_000)}, hosts: [${'*h ,'.repeat(600)}] }\n`,
    ],
  ])('is all that is looked at: %s', async (_what, text) => {
    await examined.write('broker.yaml', text());
    const { code, check, checks } = await examined.doctor();
    expect(code).toBe(2);
    expect(check('configuration').status).toBe('failed');
    const others = checks.filter(({ name }) => !['environment', 'configuration'].includes(name));
    expect(others.length).toBeGreaterThan(11);
    expect(new Set(others.map(({ reason }) => reason))).toEqual(new Set(['it needs configuration, which failed']));
  });
});
