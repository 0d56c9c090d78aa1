import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { endedAfterEach } from '#libs/testing';
import { Examined } from './examined.js';

const fileOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

describe('simulate', () => {
  let examined: Examined;
  const started = endedAfterEach();
  beforeEach(async () => {
    examined = started.add(await Examined.create(), (it) => it.remove());
    await examined.configure([{ gatewayUrl: 'https://gateway.example', environment: 'production' }]);
  });

  const simulate = (...args: readonly string[]): ReturnType<Examined['cli']> =>
    examined.cli('simulate', '--config', examined.config, ...args);

  const sharing = (): Promise<void> =>
    examined.configure([{ gatewayUrl: 'https://gateway.example' }], '{ type: redis, url: "redis://127.0.0.1:6379" }');

  it('needs no secret: only what decides the schedule has to be set', async () => {
    await examined.configure([{ gatewayUrl: '${GATEWAY_URL}', serviceCode: '${SHOP_CODE}', keyFile: '"${KEY_FILE}"' }]);
    const { code, text } = await simulate('--json', '--for', '6h', '--lifetime', '30m');
    expect(JSON.parse(text)).toMatchObject({ ok: true, merchants: [{ merchant: 'shop' }] });
    expect(code).toBe(0);
    await examined.configure([{ gatewayUrl: 'https://gateway.example', id: '${SHOP_ID}' }]);
    const without = await simulate('--for', '6h');
    expect(without.text).toContain('merchants[0].id (line 7): needs the environment variable SHOP_ID');
    expect(without.code).toBe(2);
  });

  it('says how to name a file where none is named', async () => {
    const { code, text } = await examined.cli('simulate');
    expect(text).toBe('error: name the file, or set BROKER_CONFIG');
    expect(code).toBe(64);
  });

  it('needs none of the files that the configuration names', async () => {
    await sharing();
    await rm(examined.path('client.json'));
    const { code, text } = await simulate('--json', '--for', '6h', '--lifetime', '30m');
    expect(code).toBe(0);
    expect(JSON.parse(text)).toMatchObject({
      ok: true,
      store: 'redis',
      replicas: 3,
      durationMs: 21_600_000,
      merchants: [
        {
          merchant: 'shop',
          lifetimeMs: 1_800_000,
          withoutSessionMs: 0,
          failures: {},
          budget: [
            { calls: 20, perMs: 600_000, used: 1 },
            { calls: 60, perMs: 86_400_000, used: 16 },
          ],
        },
      ],
      warnings: [],
    });
  });

  it('plays one replica where the store is memory, and says why', async () => {
    const { text } = await simulate('--for', '1h');
    expect(text).toContain('1h of 1 replica (the store is memory, for one alone)');
    expect(text).toContain('shop, lifetime 8h (session.fallbackLifetime)');
    expect(text).not.toContain('warning');
  });

  it('plays as many replicas as it is told to, and warns where the store would not let them work together', async () => {
    const inMemory = await simulate('--for', '1h', '--replicas', '3');
    expect(inMemory.text).toContain('1h of 3 replicas');
    expect(inMemory.text).toContain('warning: store.type is memory, which is for one replica alone');
    await sharing();
    const alone = await simulate('--for', '1h', '--replicas', '1');
    expect(alone.text).toContain('1h of 1 replica with seed 1');
    expect(alone.text).not.toContain('warning');
  });

  it('prints what its page shows', async () => {
    const page = await readFile(fileOf('docs/simulate.md'), 'utf8');
    const [, options = '', shown = ''] = /\$ npm run -s cli -- simulate (.+)\n([^]*?)```/.exec(page) ?? [];
    const [file = '', ...rest] = options.split(' ');
    const { text } = await examined.cli('simulate', fileOf(file), ...rest);
    expect(text.split('\n').sort()).toEqual(shown.trimEnd().split('\n').sort());
  });

  it('warns of what an operator should change', async () => {
    const { text } = await simulate('--lifetime', '30s', '--outage', '2m', '--for', '1h');
    expect(text).toMatch(
      /warning: shop: the budget of create calls was spent: renewing sessions of 30s takes \d+ calls/,
    );
    expect(text).not.toMatch(/raise session\.budget/);
    expect(text).toMatch(/warning: shop: there was no session for \S+: no lead time bridges a budget/);
    expect(text).toMatch(/create calls +\d+:/);
  });

  it('says in hours and minutes what takes hours', async () => {
    const { text } = await simulate('--lifetime', '15m', '--for', '24h');
    expect(text).toMatch(/without session +\d+h( \d+m)?\n?/);
    expect(text).toMatch(/used, renewals held up: \d\n/);
  });

  it('does not advise a larger budget where it was failures that spent it', async () => {
    const { text } = await simulate('--lifetime', '8h', '--failures', '95%', '--for', '24h');
    expect(text).toMatch(
      /warning: shop: the budget of create calls was spent, by failed calls and not by the schedule/,
    );
  });

  it('blames the timeout alone where every create call takes longer than that', async () => {
    const { text } = await simulate('--lifetime', '30m', '--latency', '8s', '--for', '6h');
    expect(text.match(/^warning: .*$/gm)).toEqual([
      'warning: shop: every create call took longer than gateway.timeout (2s), and no lead time helps: raise gateway.timeout, or ask the bank why its answers take so long',
    ]);
  });

  it('says that nothing helps where every create call fails', async () => {
    const { text } = await simulate('--failures', '100%');
    expect(text.match(/^warning: .*$/gm)).toEqual(['warning: shop: every create call failed; no setting helps']);
  });

  it.each([
    ['outlasts the run', ['--outage', '2d', '--lifetime', '1h'], 'the outage of 2d outlasts the run: give --for 5d'],
    [
      'outlasts it by hours',
      ['--outage', '20h', '--lifetime', '8h'],
      'the outage of 20h outlasts the run: give --for 3d',
    ],
    [
      'finds no renewal',
      ['--outage', '30m', '--lifetime', '2d', '--for', '6h'],
      'the outage of 30m was not played, because nothing was',
    ],
  ])('says which run would hold an outage that %s', async (_name, args, warning) => {
    const { text } = await simulate(...args);
    expect(text).toContain(`warning: shop: ${warning}`);
    const advised = /give --for (\S+)/.exec(text)?.[1] ?? '';
    expect((await simulate(...args, '--for', advised)).text).not.toContain('give --for');
  });

  it.each([
    [['--lifetime', '1s'], '--lifetime is at least 10s'],
    [['--latency', 'fast'], '--latency is a duration'],
    [['--failures', '101%'], '--failures is a percentage'],
    [['--failures', '0.5'], '--failures is a percentage'],
    [['--replicas', '0'], '--replicas is a whole number from 1 to 20'],
    [['--for', '3650d', '--lifetime', '1h'], '--for is at most'],
    [['--for', '30d', '--lifetime', '1m'], '--for is at most 20000 lifetimes, here 333h'],
    [['--merchant', 'nobody'], 'none named nobody; it has shop'],
  ])('refuses %j', async (args, message) => {
    const { code, text } = await simulate(...args);
    expect(code).toBe(2);
    expect(text).toContain(message);
  });
});
