import { fail } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import request from 'supertest';
import { VERSION } from '#libs/program';
import type { StatusDocument } from '#libs/status-page';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { type Replica, WatchedReplicas } from '../../observability/watched-replicas.js';
import { openBrowser, WatchedPage } from './page-browser.js';

const LONG_ID = `a-merchant-with-the-longest-id-that-there-can-be-${'x'.repeat(14)}`;
const budget = [{ calls: 1_000, per: '10m' }];
const steady = { lifetimeMs: 900_000, required: true, session: { budget } };
/**
 * Half of its lifetime is left to see its renewals fail: several seconds, since a browser on a busy machine may stall
 * for some.
 */
const kiosk = { id: 'kiosk', lifetimeMs: 16_000, required: false, session: { renewBefore: '50%', budget } };

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

let watched: WatchedReplicas;
let url: string;
let browser: Browser;
const open: WatchedPage[] = [];

const replica = (): Replica => watched.replicas[0] ?? fail('it has not been started');
const failKiosk = (): Promise<unknown> =>
  watched.control('POST', '/faults', {
    ...{ kind: 'error', status: 503, msgCode: 'b_server_is_overloaded' },
    ...{ operation: 'authorize', merchant: 'kiosk' },
  });
const heal = (): Promise<unknown> => watched.control('DELETE', '/faults');

const started = endedAfterAll();
beforeAll(async () => {
  browser = started.add(await openBrowser(), (it) => it.close());
  const merchants = [{ id: 'steady', ...steady }, { id: LONG_ID, ...steady }, kiosk];
  watched = started.add(await WatchedReplicas.alone(merchants, {}), (it) => it.stop());
  url = `http://${replica().management}/`;
});

afterEach(async () => {
  for (const page of open.splice(0)) await page.close();
  await heal();
});

async function visit(options: Parameters<typeof WatchedPage.open>[2] = {}, path = ''): Promise<WatchedPage> {
  const page = await WatchedPage.open(browser, url + path, options);
  open.push(page);
  return page;
}

const statusDocument = async (): Promise<StatusDocument> =>
  (await (await fetch(`${url}status.json`)).json()) as StatusDocument;
const noneOf = ({ counts }: StatusDocument): object => Object.fromEntries(Object.keys(counts).map((name) => [name, 0]));

describeWith('chromium', 'the status page in a browser', () => {
  it('shows merchants, store, gateway and replica, asks no other server, and gives no cause for complaint', async () => {
    const shown = await visit();
    await shown.page.getByRole('heading', { name: 'All 3 sessions are good' }).waitFor();
    const told = (await shown.page.locator('#replica').innerText()).split(' · ');
    expect(told.slice(-2)).toEqual([VERSION, expect.stringMatching(/^\d\d:\d\d:\d\d UTC$/)]);
    expect(await shown.page.locator('.row').count()).toBe(3);
    expect(await shown.page.locator('#tools').isHidden()).toBe(true);
    expect(await shown.row('steady').innerText()).toMatch(
      /Fresh[\s\S]*steady[\s\S]*1[45] min \d+ s left[\s\S]*renews in 1\d min[\s\S]*generation \d+, renewed /,
    );
    expect(await shown.card('Store').innerText()).toMatch(/Memory[\s\S]*In this process/);
    expect(await shown.card('Gateway').innerText()).toMatch(
      /127\.0\.0\.1:\d+[\s\S]*Answered[\s\S]*Merchants\s*3[\s\S]*Last answer\s*\d\d:\d\d:\d\d UTC/,
    );
    expect(await shown.card('This replica').innerText()).toMatch(/Ready[\s\S]*Up since/);
    const origins = new Set(shown.requests.map((request) => `${new URL(request.url()).origin}/`));
    expect([...origins]).toEqual([url]);
    expect(shown.complaints).toEqual([]);
  });

  it('shows a gateway that fails, the session that expires because of it, and that all is well again', async () => {
    const shown = await visit();
    await failKiosk();
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
    const text = await (await fetch(new URL(runbook ?? '', url))).text();
    expect(text).toMatch(/^# Renewals fail\n/);
    const index = await shown.page.getByRole('link', { name: 'runbooks', exact: true }).getAttribute('href');
    expect(await (await fetch(new URL(index ?? '', url))).text()).toMatch(/^# Runbooks\n/);
    expect(await shown.page.locator('.row').first().innerText()).toMatch(/^Unavailable[\s\S]*expired /);
    expect(await shown.page.title()).toBe('(1) Session broker');
    expect(await kiosk.innerText()).toMatch(/; failed .* \(b_server_is_overloaded\)/);
    expect(await shown.accessibilityFaults()).toEqual({ faults: [], passed: expect.any(Number) });
    await heal();
    await kiosk.locator('.condition', { hasText: 'Fresh' }).waitFor();
    expect(shown.complaints).toEqual([]);
  });

  it('says that the connection is lost and when it last heard, and comes back by itself', async () => {
    const shown = await visit();
    await watched.end(0);
    const banner = shown.page.getByRole('alert');
    await banner.getByText(/connection to this replica is lost, last news at \d\d:\d\d:\d\d/).waitFor();
    await watched.restart(0);
    await banner.waitFor({ state: 'hidden' });
    await shown.row('kiosk').locator('.condition', { hasText: 'Fresh' }).waitFor();
  });

  it('can be used from the keyboard alone, and news does not take the focus away', async () => {
    await failKiosk();
    const shown = await visit();
    const { page } = shown;
    const kiosk = shown.row('kiosk');
    await kiosk.getByRole('link').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the merchants');
    await page.keyboard.press('Enter');
    const isOnLink = async (): Promise<boolean> => (await kiosk.locator('a:focus').count()) === 1;
    while (!(await isOnLink())) await page.keyboard.press('Tab');
    const newsAt = await page.locator('#replica').innerText();
    await kiosk.locator('.condition', { hasText: 'Unavailable' }).waitFor();
    await eventually(async () => (await page.locator('#replica').innerText()) !== newsAt);
    expect(await isOnLink()).toBe(true);
  });

  it.each(['light', 'dark'] as const)(
    'can be read at 360 pixels in %s mode, by eye and by ear, however long the code of a cause is',
    async (colorScheme) => {
      const few = await statusDocument();
      const { at } = few;
      const text =
        'Not renewed: the certificate of bank.example:443 is for another name (ERR_TLS_CERT_ALTNAME_INVALID)';
      const failing = {
        ...few.merchants.find(({ id }) => id === LONG_ID)!,
        condition: 'failing',
        session: { generation: 1, createdAt: at, renewAt: at, mustRenewAt: at, expiresAt: at + 900_000 },
        cause: { text, remedy: 'compare gateway.baseUrl', runbook: 'access-refused' },
      };
      const json = { ...few, counts: { ...noneOf(few), failing: 1 }, matching: 1, merchants: [failing] };
      const shown = await visit({
        ...{ viewport: { width: 360, height: 780 }, colorScheme },
        prepare: async (page) => {
          await page.route('**/status.json*', (route) => route.fulfill({ json }));
        },
      });
      await shown.page.getByRole('heading', { name: `${LONG_ID}: ${text}` }).waitFor();
      expect(await shown.overflow()).toBe(0);
      const { faults, passed } = await shown.accessibilityFaults();
      expect(faults).toEqual([]);
      expect(passed).toBeGreaterThan(25);
      const ground = await shown.page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(ground).toBe(colorScheme === 'dark' ? 'rgb(13, 16, 22)' : 'rgb(244, 245, 248)');
    },
  );

  it('shows the first of ten thousand merchants, says how many it does not show, and asks for others', async () => {
    const few = await statusDocument();
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
    for (const path of ['', 'status/main.js', 'status/status.css', 'status.json', 'runbooks/']) {
      const { headers, status } = await fetch(url + path);
      expect([path, status]).toEqual([path, 200]);
      const policy = headers.get('content-security-policy');
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    const etag = (await fetch(`${url}status/main.js`)).headers.get('etag') ?? '';
    const again = await fetch(`${url}status/main.js`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await fetch(`${url}status.json`)).headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ...['status/', 'status/tsconfig.json', 'status/feed.spec.ts', 'status/..%2fstatus-page.js'],
    'status/index.html',
  ])('have no %s: it is not listed', async (path) => {
    expect((await fetch(url + path)).status).toBe(404);
  });

  it.each(['cross-site', 'same-site'])('tell nothing to pages of other origins: %s', async (site) => {
    await request(url).get('status.json').set('sec-fetch-site', site).expect(403);
  });

  it.each(['condition=best', `search=${'x'.repeat(65)}`, 'search=a&search=b'])(
    'refuse a search that makes no sense: %.20s',
    async (query) => {
      expect((await fetch(`${url}status.json?${query}`)).status).toBe(400);
    },
  );

  it.each([
    ['runbooks/access-refused', '*/*', '308 /runbooks/access-refused.md'],
    ['docs/runbooks/access-refused.md', '*/*', '308 /runbooks/access-refused.md'],
    ['docs/runbooks/access-refused', '*/*', '308 /runbooks/access-refused.md'],
    ['runbooks/SessionBrokerClockSkew', '*/*', '308 /runbooks/clock-skew.md'],
    ['docs/runbooks', '*/*', '308 /runbooks/'],
    ['runbooks/none-such', 'text/html', '302 /runbooks/'],
    ['runbooks/none-such', '*/*', '404 '],
  ])('lead from %s, asked for as %s, to %s', async (path, accept, expected) => {
    const answer = await fetch(url + path, { headers: { accept }, redirect: 'manual' });
    const location = answer.headers.get('location') ?? '';
    expect(`${answer.status} ${location}`).toBe(expected);
    if (answer.status === 308) expect(await answer.text()).toBe(`It is at ${location}\n`);
  });

  it('have every runbook, as text and as a page whose links lead somewhere, and nothing that the policy refuses', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const texts = new Map<string, string | undefined>();
    const waiting = [new URL('runbooks/', url)];
    for (const target of waiting) {
      if (!texts.has(target.pathname)) {
        const answer = await fetch(target, { headers });
        const text = answer.ok ? await answer.text() : undefined;
        texts.set(target.pathname, text);
        const isPage = answer.headers.get('content-type')?.startsWith('text/html');
        const links = isPage ? (text ?? '').matchAll(/\b(?:href|src)="([^"]*)"/g) : [];
        const targets = [...links].map(([, written = '']) => new URL(written, target));
        waiting.push(...targets.filter(({ origin }) => origin === target.origin));
      }
      const text = texts.get(target.pathname) ?? 'missing';
      const id = decodeURIComponent(target.hash.slice(1));
      expect([target.href, text !== 'missing' && (id === '' || text.includes(`id="${id}"`))]).toEqual([
        target.href,
        true,
      ]);
      if (target.pathname.endsWith('.md')) expect(text).not.toMatch(/<style|<script|\sstyle="|\son[a-z]+="|<img/);
    }
    const runbooks = readdirSync(fileURLToPath(new URL('../../../docs/runbooks', import.meta.url)));
    expect([...texts.keys()]).toEqual(expect.arrayContaining(runbooks.map((name) => `/runbooks/${name}`)));
    const shown = await visit({ viewport: { width: 360, height: 740 }, ready: 'h1' }, 'runbooks/');
    await shown.page.getByRole('link', { name: 'Renewals fail', exact: true }).click();
    await shown.page.getByRole('heading', { name: 'Renewals fail', level: 1 }).waitFor();
    expect(await shown.overflow()).toBe(0);
    expect((await shown.accessibilityFaults()).faults).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  it('are not there when they are switched off', async () => {
    await watched.end(0);
    const { file } = replica();
    const text = readFileSync(file, 'utf8');
    await writeFile(file, text.replace('"management":{', '"management":{"statusPage":false,'));
    await watched.restart(0);
    const paths = ['', 'status.json', 'status/main.js', 'livez'];
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(url + path)).status));
    expect(statuses).toEqual([404, 404, 404, 200]);
  });
});
