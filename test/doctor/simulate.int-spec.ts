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

  const allowing = (calls: number): string => `{ budget: [{ calls: 20, per: 10m }, { calls: ${calls}, per: 24h }] }`;

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
      warnings: [
        expect.stringMatching(
          /^shop: the budget of create calls will not last: renewing sessions of 30m takes up to 6\d calls in 1d/,
        ),
      ],
    });
  });

  it('plays one replica where the store is memory, and says why', async () => {
    const { text } = await simulate();
    expect(text).toContain('1d of 1 replica (the store is memory, for one alone)');
    expect(text).toContain('shop, lifetime 8h (session.fallbackLifetime)\n');
    expect(
      text.match(/^assumed +session\.fallbackLifetime as the life of every session, .*: give --lifetime/gm),
    ).toHaveLength(1);
    expect((await simulate('--for', '1h', '--lifetime', '8h')).text).not.toContain('assumed');
    expect(text).not.toContain('warning');
  });

  it('warns of a run in which next to nothing is renewed, and of none that is as long as it says', async () => {
    const { text } = await simulate('--lifetime', '24h');
    const [, length = ''] = /^warning: shop: only 1 renewal was played, .*: give --for (\S+)$/m.exec(text) ?? [];
    expect((await simulate('--lifetime', '24h', '--for', length)).text).not.toContain('warning');
  });

  it('plays as many replicas as it is told to, and warns where the store would not let them work together', async () => {
    const inMemory = await simulate('--for', '1h', '--replicas', '3');
    expect(inMemory.text).toContain('1h of 3 replicas');
    expect(inMemory.text).toContain('warning: store.type is memory, which is for one replica alone');
    await sharing();
    const alone = await simulate('--replicas', '1');
    expect(alone.text).toContain('1d of 1 replica with seed 1');
    expect(alone.text).not.toContain('warning');
  });

  it('prints what its page shows', async () => {
    const page = await readFile(fileOf('docs/simulate.md'), 'utf8');
    const runs = [...page.matchAll(/\$ npm run -s cli -- simulate (.+)\n([^]*?)```/g)];
    expect(runs).toHaveLength(3);
    const [, configuration = ''] = /```yaml\n(store:[^]*?)```/.exec(page) ?? [];
    await examined.write('broker.yaml', configuration);
    for (const [, options = '', shown = ''] of runs) {
      const [file = '', ...rest] = options.split(' ');
      const { text } = await examined.cli('simulate', file === 'broker.yaml' ? examined.config : fileOf(file), ...rest);
      expect(text.split('\n').sort()).toEqual(shown.trimEnd().split('\n').sort());
    }
  });

  it('prints no member as JSON that its page does not list', async () => {
    const page = await readFile(fileOf('docs/command-line-json.md'), 'utf8');
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
    expect(named).toEqual(expect.arrayContaining(['sum', 'otherRuns', 'worst', 'outageBegan', 'outsideQuietHours']));
    // The kinds of failures are no members: each counts what it is named after.
    const listed = new Set([...section.matchAll(/`([\w.]+)`/g)].flatMap(([, name = '']) => name.split('.')));
    expect(named.filter((name) => !listed.has(name) && name !== 'transient' && name !== 'ok')).toEqual([]);
  });

  it('says how long sessions have to live for quiet hours that they cannot be renewed in', async () => {
    await examined.configure([
      {
        gatewayUrl: 'https://gateway.example',
        session: "{ quietHours: { from: '03:00', to: '05:00', timeZone: Europe/Kyiv } }",
      },
    ]);
    const { text } = await simulate('--lifetime', '1h', '--for', '6h');
    expect(text).toMatch(
      /^warning: shop: sessions of 1h cannot be renewed within 2h a day: \d of \d renewals were outside of the quiet hours\. .* sessions of 22h 10m or longer/m,
    );
  });

  it('names its page and an example in its help', async () => {
    const { text } = await examined.cli('simulate', '--help');
    expect(text).toMatch(/session-broker simulate broker\.yaml --lifetime 1h --outage 20m\n[^]*docs\/simulate\.md/);
  });

  it('warns of what an operator should change', async () => {
    const { text } = await simulate('--lifetime', '30s', '--outage', '2m', '--for', '1h');
    expect(text).toMatch(
      /warning: shop: the budget of create calls was spent: renewing sessions of 30s takes up to \d+ calls/,
    );
    expect(text).not.toMatch(/raise session\.budget/);
    expect(text).toMatch(/warning: shop: there was no session for [\dhms ]+$/m);
    expect(text).toMatch(/create calls +\d+[:,] /);
  });

  it('says in hours and minutes what takes hours', async () => {
    const { text } = await simulate('--lifetime', '15m', '--for', '24h');
    expect(text).toMatch(/without session +\d+h( \d+m)?\n?/);
    expect(text).toMatch(/used, renewals held up: \d\n/);
  });

  it('does not advise a larger budget where it was failures that spent it', async () => {
    const { text } = await simulate('--lifetime', '1h', '--failures', '92%', '--for', '24h');
    expect(text).toMatch(
      / {2}budget .*\. Calls that failed had spent the budget, which is there to limit them\. The schedule alone takes /,
    );
  });

  it('has no gap of 0s, and advises nothing for one that every read waits for', async () => {
    const hourly = (calls: number): Promise<void> =>
      examined.configure([
        { gatewayUrl: 'https://gateway.example', session: `{ budget: [{ calls: ${calls}, per: 1h }] }` },
      ]);
    await hourly(10);
    const { text } = await simulate('--lifetime', '1h', '--outage', '10m');
    expect(text.match(/^(?:warning:| {2}a ).*$/gm)).toEqual([
      expect.stringMatching(/: there was no session for less than a second: .* there is nothing to do$/),
    ]);
    expect(text).toMatch(/ {2}without session {2}less than a second, \S+ \S+ after the start$/m);
    await hourly(40);
    const { text: bridged } = await simulate('--lifetime', '1h', '--outage', '10m');
    expect(bridged).toMatch(/ {2}without session {2}0s$/m);
    expect(bridged).not.toContain('warning');
  });

  it('names what helps most, a longer lead with fewer calls at once, and how much worse the lead is alone', async () => {
    await sharing();
    await examined.change('timeout: 2s', 'timeout: 10s');
    const { text } = await simulate('--lifetime', '1h', '--outage', '30m');
    expect(text).toMatch(
      /careful: a session\.renewBefore of 50% alone (?:would make it longer: between \S+( \d+[ms])? and|may make it longer, up to) [78]h( \d+m)?, because session\.budget is spent then: the schedule needs 48 of 60 in 1d/,
    );
    expect(text).toMatch(
      /a session\.renewBefore of 50% with a session\.budget of 4 in 10m in place of 20 shortened it to at most \ds in the \d+ runs that were tried, with about 48 create calls on a day without faults in place of 30 \(fewer at once leave more for later; after a longer outage the next call may wait for 10m\)\n {4}budget: \[{ calls: 4, per: 10m }, { calls: 60, per: 1d }\]/,
    );
  });

  it('goes on from what only bridged its runs to a longer lead that is certain, and asks the bank for nothing then', async () => {
    await sharing();
    const { text } = await simulate('--lifetime', '1h', '--outage', '20m');
    const paced = 'with a session.budget of 4 in 10m in place of 20';
    expect(text).toContain(`  - a session.renewBefore of 50% ${paced} would bridge it, leaving at least `);
    expect(text).toContain(
      `  - a session.renewBefore of 40% ${paced} bridged it in all of the 10 runs that were tried`,
    );
    expect(text).not.toMatch(/ask the bank|bridged it too/);
  });

  it('does not warn of a budget that was spent at no cost, and says so beside it', async () => {
    const { text } = await simulate('--lifetime', '1h', '--outage', '10m', '--replicas', '3');
    expect(text).toMatch(/renewals held up: [1-9]\d*, at no cost: each session was replaced in time$/m);
    expect(text).not.toMatch(/warning: shop:/);
  });

  it('blames the timeout alone where every create call takes longer than that', async () => {
    const { text } = await simulate('--lifetime', '30m', '--latency', '8s', '--for', '6h');
    expect(text.match(/^warning: .*$/gm)).toEqual([
      'warning: shop: every create call took longer than gateway.timeout (2s), and no lead time helps: raise gateway.timeout to 12s, or ask the bank why its answers take so long',
    ]);
  });

  it.each([
    ['failures', ['--failures', '10%'], 157],
    ['an outage', ['--outage', '2m'], 150],
  ])('tells what %s had left of the budget, and the budget that would bridge the gap', async (_name, args, enough) => {
    const run = async (allowed: number): Promise<string> => {
      await examined.configure([{ gatewayUrl: 'https://gateway.example', session: allowing(allowed) }]);
      return (await simulate('--lifetime', '15m', '--replicas', '3', ...args)).text;
    };
    const text = await run(125);
    expect(text).toMatch(/held up: \d+\. .*calls that failed .*\. The schedule alone takes 12\d of 125 in 1d$/im);
    expect(text).toMatch(
      /there was no session for [\dhms ]+(?: \(.*\))?.*:[^]*\n {2}(?:- )?a session\.budget of \d+ in 1d (would bridge it|bridged it in all of the \d+ runs that were tried), leaving at least .* \(ask the bank/,
    );
    const [, advised = ''] = /a session\.budget of (\d+) in 1d (?:would bridge|bridged) it/.exec(text) ?? [];
    expect(Math.abs(Number(advised) - enough)).toBeLessThanOrEqual(8);
    expect(await run(Number(advised))).toMatch(/without session +0s/);
  });

  it('blames the budget, and not --for, where the budget kept an outage from being played', async () => {
    const { text } = await simulate('--lifetime', '15m', '--outage', '10m');
    expect(text).toMatch(
      /the outage of 10m was not played.*: it begins .* session\.budget, which was spent, held that/,
    );
    expect(text).not.toContain('give --for');
  });

  it('names gateway.timeout where some calls take longer, and the one that is long enough', async () => {
    const slow = await simulate('--lifetime', '24h', '--latency', '3s');
    expect(slow.text).toMatch(
      /\d+ of \d+ create calls took longer than gateway\.timeout \(2s\): the latency of 3s exceeds it; raise gateway\.timeout to 5s/,
    );
    const nearly = await simulate('--lifetime', '1h', '--latency', '1800ms');
    expect(nearly.text).toMatch(/at a latency of 1800ms a call takes up to 2700ms; raise gateway\.timeout to 3s/);
    const hopeless = await simulate('--latency', '50s', '--for', '6h');
    expect(hopeless.text).toContain('it can be 1m at most, which is too short for some');
  });

  it('does not blame the timeout where every call would fail anyway', async () => {
    const { text } = await simulate('--failures', '100%', '--latency', '8s', '--for', '6h');
    expect(text.match(/^warning: .*$/gm)).toEqual(['warning: shop: every create call failed; no setting helps']);
  });

  it('tells what of a gap came after the outage', async () => {
    const { text } = await simulate('--lifetime', '8h', '--outage', '2h', '--replicas', '3');
    expect(text).toMatch(/without session +[\dms ]+s, \d+h \d+m after the start; [\dms ]+s of it after the outage/);
    expect(text).toMatch(
      / came after the outage, in the pause after the last failed attempt, which `session-broker renew`/,
    );
    expect(text).toMatch(/a session\.renewBefore of \d+% would bridge it/);
  });

  it('says where an outage of quiet hours fell, and what it leaves in a night that is worse', async () => {
    const quiet = (more = ''): Promise<void> =>
      examined.configure([
        {
          gatewayUrl: 'https://gateway.example',
          session: `{ quietHours: { from: '02:00', to: '04:00', timeZone: Europe/Kyiv }${more} }`,
        },
      ]);
    await quiet();
    const inNights = (...args: readonly string[]): ReturnType<typeof simulate> =>
      simulate('--lifetime', '24h', '--from', '2026-10-20', '--for', '10d', '--outage', '30m', ...args);
    const { text } = await inNights();
    expect(text).toMatch(
      /warning: shop: there was always a session in this run, and in another one \(--for \S+ --seed \d+\) there was none for [23]\dm( \d+s)?.*:\s+a session\.renewBefore of 35m (?:would bridge it|bridged it in all)/,
    );
    expect(text).toMatch(/ without session {2}0s, where the outage begins on 2026-10-25 at 0\d:\d\d$/m);
    const shown =
      / other runs +at most (.+) in \d+; the longest with --for (\S+) --seed (\d+), where the outage begins on (2026-\d\d-\d\d) at \S+$/m;
    const [, gap = '', length = '', seed = '', day = ''] = shown.exec(text) ?? [];
    const { text: repeated } = await inNights('--for', length, '--seed', seed);
    expect(repeated).toMatch(new RegExp(` without session {2}${gap}, .*, where the outage begins on ${day} at `));
    await quiet(', renewBefore: 35m');
    expect((await inNights()).text).not.toContain('warning');
  });

  it('tells what other runs were past the margin, whether this one was or not', async () => {
    const file = fileOf('deploy/compose/broker.yaml');
    const played = (seed: string): ReturnType<typeof simulate> =>
      examined.cli('simulate', file, '--lifetime', '15m', '--outage', '2m', '--seed', seed);
    const shown = / other runs +0s in each of 9, past the margin at most \ds; the longest with /;
    const here = await played('1');
    expect(here.text).toMatch(shown);
    expect(here.text).toMatch(
      /past their margin for \ds \(at most \ds in 9 other runs\)\. What helps:\s+a session\.renewBefore of 30% /,
    );
    const elsewhere = await played('2');
    expect(elsewhere.text).toMatch(shown);
    expect(elsewhere.text).toMatch(
      /no session was handed out past its margin in this run, and in another one \(--for \S+ --seed \d+\) some were for \ds\. What helps:\s+a session\.renewBefore of 30% /,
    );
  });

  it('plays clocks that differ: nothing changes until they are further apart than is believed', async () => {
    const apart = await simulate('--lifetime', '1h', '--skew', '4m');
    expect(apart.text).toContain('its clock 4m ahead');
    expect(apart.text).not.toContain('warning');
    for (const skew of ['10m', '60m', '-70m']) {
      const { text } = await simulate('--lifetime', '1h', '--skew', skew, '--for', '6h');
      expect(text).toContain('the clocks are further apart than gateway.largestClockSkew (5m)');
    }
    const tooFar = await simulate('--lifetime', '15m', '--skew', '-10m', '--for', '2h');
    expect(tooFar.text).toContain('its clock 10m behind');
    expect(tooFar.text).toMatch(
      /sessions of 15m are taken to live for (5m|299s): the clocks are further apart than gateway\.largestClockSkew \(5m\)/,
    );
  });

  it('takes a duration as it prints it, or as one word', async () => {
    for (const lifetime of ['1h 30m', '1h30m', '90m']) {
      expect((await simulate('--lifetime', lifetime)).text).toContain('shop, lifetime 90m');
    }
  });

  it('sums up many merchants, and shows those with a warning', async () => {
    const merchants = Array.from({ length: 25 }, (_, index) => ({
      gatewayUrl: 'https://gateway.example',
      id: `shop-${index}`,
      serviceCode: `c0ffee00-0368-41ed-b939-0242ac1200${10 + index}`,
    }));
    await examined.configure(merchants);
    const { code, text } = await simulate('--for', '6h', '--lifetime', '2h');
    expect(code).toBe(0);
    expect(text).toMatch(/^all 25 merchants\n {2}create calls +100: 400 a day, at most \d+ in an hour$/m);
    expect(text.match(/^\S.*lifetime 2h/gm)).toEqual(['25 merchants alike, shop-0 first, lifetime 2h']);
    const lost = await simulate('--for', '12h', '--lifetime', '2h', '--outage', '2h');
    expect(lost.text.match(/^warning: .*there was no session/gm)).toEqual([
      'warning: all 25 (shop-0, shop-1, shop-2 and 22 others): there was no session',
    ]);
    const { text: json } = await simulate('--for', '6h', '--lifetime', '2h', '--json');
    expect(JSON.parse(json)).toMatchObject({ sum: { merchants: 25, createCalls: 100, withGap: 0 } });
  });

  it('tries what it advises for merchants alike in runs of several of them', async () => {
    const merchants = ['one', 'two', 'three'].map((id, index) => ({
      ...{ id, gatewayUrl: 'https://gateway.example', session: '{ budget: [{ calls: 20, per: 10m }] }' },
      serviceCode: `c0ffee00-0368-41ed-b939-0242ac12000${index}`,
    }));
    await examined.configure(merchants);
    const options = ['--lifetime', '15m', '--latency', '500ms', '--failures', '10%', '--outage', '5m'];
    const runsIn = ({ text }: { readonly text: string }): string | undefined =>
      /(\d+) runs that were tried/.exec(text)?.[1];
    expect(runsIn(await simulate(...options, '--merchant', 'one'))).toBe('28');
    expect(runsIn(await simulate(...options))).toBe('30');
  });

  it('advises for merchants alike what leaves none of them without a session when it is applied', async () => {
    const configured = (session: string): Promise<void> =>
      examined.configure(
        Array.from({ length: 40 }, (_, index) => ({
          ...{ id: `m${index + 1}`, gatewayUrl: 'https://gateway.example', session },
          serviceCode: `c0ffee00-0368-41ed-b939-0242ac1200${10 + index}`,
        })),
        '{ type: redis, url: "redis://127.0.0.1:6379" }',
      );
    await configured('{ budget: [{ calls: 20, per: 10m }, { calls: 150, per: 1d }] }');
    const run = ['--lifetime', '15m', '--outage', '4m'];
    const { text } = await simulate(...run);
    const [, share = '', budget = ''] =
      /a session\.renewBefore of (\d+%) with .* would bridge it, leaving .* in the \d+ runs that were tried, of all 40 merchants,.*\n +(budget: .*) #/.exec(
        text,
      ) ?? [];
    await configured(`{ renewBefore: ${share}, ${budget} }`);
    const { text: again } = await simulate(...run);
    expect(again).toMatch(/^all 40 merchants\n[^]* {2}without session {2}none$/m);
  });

  it('shows a person what it plays, and erases that; programs see none of it', async () => {
    await simulate('--for', '1h');
    expect(examined.progress).toEqual(['playing shop …', '']);
    await simulate('--for', '1h', '--json');
    await simulate('--for', '1h', '--lifetime', '1s');
    expect(examined.progress).toHaveLength(2);
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

  it('says at once that no setting bridges an outage which is longer than any session, and what shortens another one', async () => {
    const { text } = await simulate('--outage', '50h', '--lifetime', '8h', '--for', '7d');
    expect(text).toMatch(
      /no session for \d.*\. No setting bridges an outage that is longer than even sessions of 1d$/m,
    );
    const shorter = (await simulate('--outage', '13h', '--lifetime', '24h', '--for', '7d')).text;
    expect(shorter).toMatch(/no session for 8h .*:\n[^]*a session\.renewBefore of 50% shortened it to between 1h /);
  });

  it.each([
    [['--lifetime', '1s'], '--lifetime is at least 10s'],
    [['--for', '0s'], '--for is longer than 0s'],
    [['--latency', 'fast'], '--latency is a duration'],
    [['--skew', '--10m'], '--skew is a duration'],
    [['--failures', '101%'], '--failures is a percentage'],
    [['--failures', '0.5'], '--failures is a percentage'],
    [['--replicas', '0'], '--replicas is a whole number from 1 to 20'],
    [['--for', '3650d', '--lifetime', '1h'], '--for is at most'],
    [['--for', '30d', '--lifetime', '1m'], '--for is at most 20000 lifetimes, here 333h'],
    [['--from', '2026-02-30'], '--from 2026-02-30 is no day of the calendar'],
    [['--from', '30.10.2026'], '--from is a day of this century, such as 2026-10-24'],
    [['--merchant', 'nobody'], 'none named nobody; it has shop'],
  ])('refuses %j', async (args, message) => {
    const { code, text } = await simulate(...args);
    expect(code).toBe(2);
    expect(text).toContain(message);
  });
});
