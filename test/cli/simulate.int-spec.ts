import { readFile } from 'node:fs/promises';
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

  it('plays one replica where the store is memory, and says why', async () => {
    const { text } = await simulate();
    expect(text).toContain('1d of 1 replica (the store is memory, for one alone)');
    expect(text).toContain('shop, lifetime 8h (session.fallbackLifetime)\n');
    expect(text.match(/^assumed +every session lives for session\.fallbackLifetime: give --lifetime/gm)).toHaveLength(
      1,
    );
    expect((await simulate('--for', '1h', '--lifetime', '8h')).text).not.toContain('assumed');
    expect(text).not.toContain('warning');
  });

  it('plays as many replicas as it is told to, and warns where the store would not let them work together', async () => {
    const inMemory = await simulate('--for', '1h', '--replicas', '3');
    expect(inMemory.text).toContain('1h of 3 replicas');
    expect(inMemory.text).toContain('warning: store.type is memory, which is for one replica alone');
    await sharing();
    expect((await simulate('--for', '1h')).text).toContain('1h of 3 replicas');
    const alone = await simulate('--replicas', '1');
    expect(alone.text).toContain('1d of 1 replica with seed 1');
    expect(alone.text).not.toContain('warning');
  });

  it('prints what its page shows', async () => {
    const page = await readFile(fileOf('docs/simulate.md'), 'utf8');
    const [, file = '', options = '', shown = ''] =
      /\$ npm run -s cli -- simulate (\S+) (.+)\n([^]*?)```/.exec(page) ?? [];
    const { text } = await examined.cli('simulate', fileOf(file), ...options.split(' '));
    expect(text.split('\n').sort()).toEqual(shown.trimEnd().split('\n').sort());
  });

  it('prints no member as JSON that its page does not list', async () => {
    const page = await readFile(fileOf('docs/reference/command-line-json.md'), 'utf8');
    const [, section = ''] = /^## `simulate`\n([^]*?)^## /m.exec(page) ?? [];
    const quietHours = "{ quietHours: { from: '03:00', to: '05:00', timeZone: UTC } }";
    await examined.configure(
      ['one', 'two'].map((id, index) => ({
        ...{ id, gatewayUrl: 'https://gateway.example', session: quietHours },
        serviceCode: `c0ffee00-0368-41ed-b939-0242ac12000${index}`,
      })),
    );
    const { text } = await simulate('--json', '--lifetime', '24h', '--for', '4d', '--outage', '30m');
    const named: string[] = [];
    JSON.parse(text, (name, value: unknown) => {
      if (!/^\d*$/.test(name)) named.push(name);
      return value;
    });
    expect(named).toEqual(expect.arrayContaining(['sum', 'days', 'afterOutage', 'outsideQuietHours']));
    // The kinds of failures are no members: each counts what it is named after.
    const listed = new Set([...section.matchAll(/`([\w.]+)`/g)].flatMap(([, name = '']) => name.split('.')));
    expect(named.filter((name) => !listed.has(name) && name !== 'transient' && name !== 'ok')).toEqual([]);
  });

  it('shows a person what it plays, and erases that; programs see none of it', async () => {
    await simulate('--for', '1h');
    expect(examined.progress).toEqual(['playing shop …', '']);
    await simulate('--for', '1h', '--json');
    await simulate('--for', '1h', '--lifetime', '1s');
    expect(examined.progress).toHaveLength(2);
  });

  it.each([
    [['--for', '0s'], '--for is longer than 0s'],
    [['--latency', 'fast'], '--latency is a duration'],
    [['--failures', '101%'], '--failures is a percentage'],
    [['--replicas', '0'], '--replicas is a whole number from 1 to 20'],
    [['--for', '3650d', '--lifetime', '1h'], '--for is at most'],
    [['--for', '30d', '--lifetime', '1m'], '--for is at most 20000 lifetimes, here 333h'],
    [['--from', '2026-02-30'], '--from 2026-02-30 is no day of the calendar'],
  ])('refuses %j', async (args, message) => {
    const { code, text } = await simulate(...args);
    expect(code).toBe(2);
    expect(text).toContain(message);
  });
});
