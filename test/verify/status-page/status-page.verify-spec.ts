import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { VERSION } from '#libs/program';
import type { StatusDocument } from '#libs/status-page';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { openBrowser, WatchedPage } from './page-browser.js';
import { followRunbookPages } from './runbook-links.js';
import { LONG_ID, ShownBroker } from './shown-broker.js';

const PAGE_FOLDER = 'libs/status-page/src/page';

/** What someone who could run something in the page would try, and what became of it. */
const ATTACKS = `(async () => {
  const refused = [];
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective));
  const attempt = async (attack) => { try { await attack(); } catch (error) { refused.push(error.name); } };
  await attempt(() => { document.body.innerHTML = '<img src=x>'; });
  await attempt(() => document.body.setAttribute('onclick', 'document.title = "taken over"'));
  await attempt(() => fetch('https://elsewhere.example/'));
  await attempt(() => { document.body.append(Object.assign(document.createElement('img'), { src: 'https://elsewhere.example/' })); });
  document.body.click();
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { refused, title: document.title };
})()`;

let broker: ShownBroker;
let browser: Browser;
const open: WatchedPage[] = [];

const started = endedAfterAll();
beforeAll(async () => {
  browser = started.add(await openBrowser(), (it) => it.close());
  broker = started.add(await ShownBroker.start(), (it) => it.stop());
});

afterEach(async () => {
  for (const page of open.splice(0)) await page.close();
  await broker.heal();
  await broker.startBroker();
});

async function visit(options: Parameters<typeof WatchedPage.open>[2] = {}): Promise<WatchedPage> {
  const page = await WatchedPage.open(browser, broker.url, options);
  open.push(page);
  return page;
}

const noneOf = ({ counts }: StatusDocument): object => Object.fromEntries(Object.keys(counts).map((name) => [name, 0]));

describeWith('chromium', 'the status page in a browser', () => {
  it('shows merchants, store, gateway and replica, asks no other server, and gives no cause for complaint', async () => {
    const shown = await visit();
    await shown.page.getByRole('heading', { name: 'All 4 sessions are good' }).waitFor();
    const told = (await shown.page.locator('#replica').innerText()).split(' · ');
    expect(told.slice(-2)).toEqual([VERSION, expect.stringMatching(/^\d\d:\d\d:\d\d UTC$/)]);
    expect(await shown.page.locator('.row').count()).toBe(4);
    expect(await shown.page.locator('#tools').isHidden()).toBe(true);
    expect(await shown.row('steady').innerText()).toMatch(
      /Fresh[\s\S]*steady[\s\S]*1[45] min \d+ s left[\s\S]*renews in 1\d min[\s\S]*generation \d+, renewed /,
    );
    expect(await shown.card('Store').innerText()).toMatch(/Memory[\s\S]*In this process/);
    expect(await shown.card('Gateway').innerText()).toMatch(
      /127\.0\.0\.1:\d+[\s\S]*Answered[\s\S]*Merchants\s*4[\s\S]*Last answer\s*\d\d:\d\d:\d\d UTC/,
    );
    expect(await shown.card('This replica').innerText()).toMatch(/Ready[\s\S]*Up since/);
    const origins = new Set(shown.requests.map((request) => `${new URL(request.url()).origin}/`));
    expect([...origins]).toEqual([broker.url]);
    expect(shown.complaints).toEqual([]);
  });

  it('shows a renewal without being loaded again', async () => {
    const shown = await visit();
    await shown.page.evaluate('window.loaded = "once"');
    const generation = async (): Promise<string | undefined> =>
      /generation (\d+)/.exec(await shown.row('shop').innerText())?.[1];
    const before = await generation();
    await eventually(async () => (await generation()) !== before);
    expect(await shown.page.evaluate('window.loaded')).toBe('once');
  });

  it('shows a gateway that fails, the session that expires because of it, and that all is well again', async () => {
    const shown = await visit();
    await broker.fail('kiosk');
    const kiosk = shown.row('kiosk');
    await kiosk.locator('.condition', { hasText: 'Failing' }).waitFor();
    await shown.card('Gateway').getByText('b_server_is_overloaded', { exact: false }).waitFor();
    await kiosk.locator('.condition', { hasText: 'Unavailable' }).waitFor();
    const cause = 'Payments fail: the bank reports a fault of its own: b_server_is_overloaded';
    await shown.page.getByRole('heading', { name: `kiosk: ${cause}` }).waitFor();
    expect(await kiosk.locator('.remedy').innerText()).toMatch(
      new RegExp(`^${cause}[.]\\s+Wait: it is asked again [^.]*[.]\\s+Runbook: renewals-failing$`),
    );
    const runbook = await shown.page.locator('#headline-runbook').getAttribute('href');
    const text = await (await fetch(new URL(runbook ?? '', broker.url))).text();
    expect(text).toMatch(/^# Renewals fail\n/);
    const index = await shown.page.getByRole('link', { name: 'runbooks', exact: true }).getAttribute('href');
    expect(await (await fetch(new URL(index ?? '', broker.url))).text()).toMatch(/^# Runbooks\n/);
    expect(await shown.page.locator('.row').first().innerText()).toMatch(/^Unavailable[\s\S]*expired /);
    expect(await shown.page.title()).toBe('(1) Session broker');
    expect(await kiosk.innerText()).toMatch(/; failed .* \(b_server_is_overloaded\)/);
    expect(await shown.accessibilityFaults()).toEqual({ faults: [], passed: expect.any(Number) });
    await broker.heal();
    await kiosk.locator('.condition', { hasText: 'Fresh' }).waitFor();
    expect(shown.complaints).toEqual([]);
  });

  it('says that the connection is lost and when it last heard, and comes back by itself', async () => {
    const shown = await visit();
    await broker.stopBroker();
    const banner = shown.page.getByRole('alert');
    await banner.getByText(/connection to this replica is lost, last news at \d\d:\d\d:\d\d/).waitFor();
    await broker.startBroker();
    await banner.waitFor({ state: 'hidden' });
    await shown.row('kiosk').locator('.condition', { hasText: 'Fresh' }).waitFor();
  });

  it('can be used from the keyboard alone, and news does not take the focus away', async () => {
    await broker.fail('kiosk');
    const shown = await visit();
    const { page } = shown;
    const kiosk = shown.row('kiosk');
    await kiosk.getByRole('link').waitFor();
    await page.keyboard.press('Tab');
    expect(await shown.focused()).toBe('Skip to the merchants');
    await page.keyboard.press('Enter');
    const isOnLink = async (): Promise<boolean> => (await kiosk.locator('a:focus').count()) === 1;
    while (!(await isOnLink())) await page.keyboard.press('Tab');
    const newsAt = await page.locator('#replica').innerText();
    await kiosk.locator('.condition', { hasText: 'Unavailable' }).waitFor();
    await eventually(async () => (await page.locator('#replica').innerText()) !== newsAt);
    expect(await isOnLink()).toBe(true);
  });

  it.each(['light', 'dark'] as const)(
    'can be read at 360 pixels in %s mode, by eye and by ear',
    async (colorScheme) => {
      const shown = await visit({ viewport: { width: 360, height: 780 }, colorScheme });
      expect(await shown.overflow()).toBe(0);
      const { faults, passed } = await shown.accessibilityFaults();
      expect(faults).toEqual([]);
      expect(passed).toBeGreaterThan(25);
      const style = (selector: string, property: string): Promise<string> =>
        shown.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
      const ground = await style('body', 'backgroundColor');
      expect(ground).toBe(colorScheme === 'dark' ? 'rgb(13, 16, 22)' : 'rgb(244, 245, 248)');
    },
  );

  it('is no wider than 360 pixels, however long the code of a cause is', async () => {
    const few = (await (await fetch(`${broker.url}status.json`)).json()) as StatusDocument;
    const merchant = few.merchants.find(({ id }) => id === LONG_ID)!;
    const otherName =
      'Not renewed: the certificate of bank.example:443 is for another name (ERR_TLS_CERT_ALTNAME_INVALID)';
    const cause = { text: otherName, remedy: 'compare gateway.baseUrl', runbook: 'access-refused' };
    const { at } = few;
    const session = { generation: 1, createdAt: at, renewAt: at, mustRenewAt: at, expiresAt: at + 900_000 };
    const failing = { ...merchant, condition: 'failing', session, cause };
    const json = { ...few, counts: { ...noneOf(few), failing: 1 }, matching: 1, merchants: [failing] };
    const shown = await visit({
      viewport: { width: 360, height: 780 },
      prepare: async (page) => {
        await page.route('**/status.json*', (route) => route.fulfill({ json }));
      },
    });
    await shown.page.getByRole('heading', { name: `${LONG_ID}: ${otherName}` }).waitFor();
    expect(await shown.overflow()).toBe(0);
  });

  it('shows the first of ten thousand merchants, says how many it does not show, and asks for others', async () => {
    const few = (await (await fetch(`${broker.url}status.json`)).json()) as StatusDocument;
    const one = few.merchants[0]!;
    const first = Array.from({ length: 100 }, (_, index) => ({ ...one, id: `m-${index}` }));
    const counts = { ...noneOf(few), fresh: 9_999, failing: 1 };
    const prepare = async (page: WatchedPage['page']): Promise<void> => {
      await page.route('**/status.json*', (route) => {
        const { searchParams } = new URL(route.request().url());
        const found = `${searchParams.get('search') ?? ''}${searchParams.get('condition') ?? ''}`;
        const merchants = found === '' ? first : [{ ...one, id: found }];
        return route.fulfill({ json: { ...few, counts, matching: found === '' ? 10_000 : 1, merchants } });
      });
    };
    const shown = await visit({ prepare });
    const { page } = shown;
    await page.getByText('9,900 merchants are not shown').waitFor();
    expect(await page.locator('.row').count()).toBe(100);
    expect(await page.locator('#filters button:visible').allInnerTexts()).toEqual([
      'All10,000',
      'Failing1',
      'Fresh9,999',
    ]);
    expect((await shown.accessibilityFaults()).faults).toEqual([]);
    await page.getByLabel('Search merchants by id').focus();
    await page.keyboard.type('m-7777');
    await shown.row('m-7777').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await shown.row('failing').waitFor();
    expect(await page.locator('.row').count()).toBe(1);
    expect(await page.locator('[aria-pressed="true"]').innerText()).toBe('Failing1');
  });

  it('shows no secret, neither in the document nor in anything that was sent for it', async () => {
    const shown = await visit();
    const { authToken, deviceId, refreshToken, serverPublic, clientKeyThumbprint } = await broker.sessionOf('steady');
    const { x, y } = serverPublic as { x: string; y: string };
    const secrets = [authToken, deviceId, refreshToken, clientKeyThumbprint, x, y, ...broker.secrets];
    const bodies = await Promise.all(
      shown.requests.map(async (request) => (await (await request.response())?.text()) ?? ''),
    );
    const everything = [await shown.page.content(), ...bodies].join('\n');
    expect(everything).toContain('"generation":');
    expect(secrets.filter((secret) => typeof secret !== 'string' || everything.includes(secret))).toEqual([]);
  });

  it('runs nothing that is not its own, even where a hole would let it in', async () => {
    const { page, complaints } = await visit();
    const outcome = await page.evaluate<{ refused: string[]; title: string }>(ATTACKS);
    expect(outcome.title).not.toBe('taken over');
    expect(outcome.refused).toEqual(
      expect.arrayContaining(['TypeError', 'connect-src', 'img-src', 'require-trusted-types-for']),
    );
    expect(complaints.length).toBeGreaterThan(0);
  });
});

describeWith('chromium', 'the routes of the status page', () => {
  it('say what a browser may do with them, and when it need not ask again', async () => {
    for (const path of ['', 'status/main.js', 'status/status.css', 'status.json']) {
      const { headers, status } = await fetch(broker.url + path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    const etag = (await fetch(`${broker.url}status/main.js`)).headers.get('etag') ?? '';
    const again = await fetch(`${broker.url}status/main.js`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await fetch(`${broker.url}status.json`)).headers.get('cache-control')).toBe('no-store');
  });

  it('have no file that is not listed', async () => {
    for (const path of [
      'status',
      'status/',
      'status/tsconfig.json',
      'status/feed.spec.ts',
      'status/..%2fstatus-page.js',
      'status/index.html',
    ]) {
      expect([path, (await fetch(broker.url + path)).status]).toEqual([path, 404]);
    }
  });

  it('tell nothing to pages of other origins', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const response = await answerOf(`${broker.url}status.json`, { 'sec-fetch-site': site });
      expect([site, response.statusCode]).toEqual([site, 403]);
      response.destroy();
    }
  });

  it('refuse a search that makes no sense', async () => {
    for (const query of ['condition=best', `search=${'x'.repeat(65)}`, 'search=a&search=b']) {
      const response = await fetch(`${broker.url}status.json?${query}`);
      expect([query, response.status]).toEqual([query, 400]);
    }
  });

  it('have the files of the sources, and are not there when they are switched off', async () => {
    const folder = fileURLToPath(new URL(`../../../${PAGE_FOLDER}`, import.meta.url));
    const files = readdirSync(folder).filter((name) => /\.(js|css|svg)$/.test(name));
    for (const name of files) {
      const served = await (await fetch(`${broker.url}status/${name}`)).text();
      expect([name, served === readFileSync(`${folder}/${name}`, 'utf8')]).toEqual([name, true]);
    }
    expect((await fetch(`${broker.url}status/played-status.js`)).status).toBe(404);
    await assertReadableRunbooks(new URL('runbooks/', broker.url));
    await assertFoundByAnyName(broker.url);
    await broker.stopBroker();
    const { file } = broker.replica;
    const text = readFileSync(file, 'utf8');
    await writeFile(file, text.replace('"management":{', '"management":{"statusPage":false,'));
    await broker.startBroker();
    const paths = ['', 'status.json', 'status/main.js', 'livez'];
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(broker.url + path)).status));
    expect(statuses).toEqual([404, 404, 404, 200]);
  });
});

/**
 * In a browser: every link leads somewhere, nothing needs what the policy refuses, and it fits the width of a phone.
 */
async function assertReadableRunbooks(index: URL): Promise<void> {
  const runbooks = readdirSync(fileURLToPath(new URL('../../../docs/runbooks', import.meta.url)));
  const { pages, broken } = await followRunbookPages(index.href.replace(/runbooks\/$/, ''));
  expect(broken).toEqual([]);
  expect([...pages.keys()]).toEqual(expect.arrayContaining(runbooks.map((name) => `/runbooks/${name}`)));
  const html = [...pages].filter(([path]) => path.endsWith('.md')).map(([, text]) => text);
  expect(html.filter((text) => /<style|<script|\sstyle="|\son[a-z]+="|<img/.test(text))).toEqual([]);
  const shown = await WatchedPage.openAny(browser, index.href, { viewport: { width: 360, height: 740 } });
  open.push(shown);
  await shown.page.getByRole('link', { name: 'Renewals fail', exact: true }).click();
  await shown.page.getByRole('heading', { name: 'Renewals fail', level: 1 }).waitFor();
  expect(await shown.overflow()).toBe(0);
  expect(await shown.accessibilityFaults()).toEqual({ faults: [], passed: expect.any(Number) });
  expect(shown.complaints).toEqual([]);
}

async function assertFoundByAnyName(root: string): Promise<void> {
  const ledTo = async (path: string, accept: string): Promise<string> => {
    const { status, headers } = await fetch(root + path, { headers: { accept }, redirect: 'manual' });
    return `${status} ${headers.get('location') ?? ''}`;
  };
  for (const path of ['runbooks/access-refused', 'docs/runbooks/access-refused.md', 'docs/runbooks/access-refused']) {
    expect(await ledTo(path, '*/*')).toBe('308 /runbooks/access-refused.md');
  }
  expect(await ledTo('runbooks/SessionBrokerClockSkew', '*/*')).toBe('308 /runbooks/clock-skew.md');
  const moved = await fetch(`${root}runbooks/SessionBrokerNoSession`, { redirect: 'manual' });
  expect(await moved.text()).toBe('It is at /runbooks/no-session.md\n');
  expect(await ledTo('docs/runbooks', '*/*')).toBe('308 /runbooks/');
  expect(await ledTo('runbooks/none-such', 'text/html')).toBe('302 /runbooks/');
  expect(await ledTo('runbooks/none-such', '*/*')).toBe('404 ');
}

function answerOf(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => void get(url, { headers, agent: false }, resolve).on('error', reject));
}
