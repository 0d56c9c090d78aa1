// Writes docs/images/status-*.png: the status page of the built broker, using the built sandbox with a gateway fault.
// Takes a minute, because the session on it that expires is real. Needs Chromium (CHROMIUM, default /usr/bin/chromium).
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const root = join(import.meta.dirname, '..', '..', '..');
const images = process.env.IMAGES ?? join(root, 'docs', 'images');

const merchants = [
  { id: 'shop', lifetimeMs: 900_000, renewBefore: '20%' },
  { id: 'tickets', lifetimeMs: 240_000, renewBefore: '40%' },
  { id: 'marketplace', lifetimeMs: 90_000, renewBefore: '30%' },
  { id: 'donations', lifetimeMs: 60_000, renewBefore: '50%' },
  { id: 'box-office', lifetimeMs: 120_000, renewBefore: '50s' },
  { id: 'kiosk', lifetimeMs: 30_000, renewBefore: '14s' },
];

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function answered(url) {
  for (const endsAt = Date.now() + 20_000; ; await pause(50)) {
    const response = await fetch(url).catch((error) => error);
    if (response instanceof Response && response.ok) return;
    if (Date.now() > endsAt) throw new Error(`${url} does not answer`);
  }
}

function start(app, environment) {
  const main = join(root, 'dist/programs', `${app}.js`);
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  return { stop: () => (child.kill('SIGTERM'), ended) };
}

const folder = await mkdtemp(join(tmpdir(), 'session-broker-images-'));
const [port, management, sandboxPort] = [await freePort(), await freePort(), await freePort()];
const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
const onboarded = [];
const configured = [];
for (const [index, { id, lifetimeMs, renewBefore }] of merchants.entries()) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const serviceCode = `137d9304-0368-11ed-b939-0242ac12000${index}`;
  await writeFile(join(folder, `${id}.json`), JSON.stringify(privateKey.export({ format: 'jwk' })), { mode: 0o600 });
  onboarded.push({ id, serviceCode, publicJwk: publicKey.export({ format: 'jwk' }), lifetimeMs });
  configured.push({
    id,
    serviceCode,
    clientKeyFiles: [`${id}.json`],
    gateway: { baseUrl: sandboxUrl, environment: 'test', timeout: '2s' },
    session: { renewBefore, budget: [{ calls: 1_000, per: '10m' }] },
  });
}
await writeFile(join(folder, 'merchants.json'), JSON.stringify(onboarded));
await writeFile(
  join(folder, 'broker.yaml'),
  JSON.stringify({
    http: { port },
    management: { port: management },
    auth: { disabled: true },
    merchants: configured,
  }),
);

const sandbox = start('sandbox', {
  SANDBOX_HOST: '127.0.0.1',
  SANDBOX_PORT: String(sandboxPort),
  SANDBOX_MERCHANTS: join(folder, 'merchants.json'),
});
await answered(`${sandboxUrl}/livez`);
const fault = (body) =>
  fetch(`${sandboxUrl}/control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operation: 'authorize', ...body }),
  });
const broker = start('broker', { BROKER_CONFIG: join(folder, 'broker.yaml') });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
});
try {
  const url = `http://127.0.0.1:${management}/`;
  await answered(`${url}readyz`);
  await fault({ kind: 'error', status: 503, msgCode: 'b_server_is_overloaded', merchant: 'donations' });
  await fault({ kind: 'error', status: 503, msgCode: 'b_server_is_overloaded', merchant: 'kiosk' });
  const light = await browser.newPage({ viewport: { width: 1200, height: 960 }, colorScheme: 'light' });
  const dark = await browser.newPage({
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
    deviceScaleFactor: 2,
  });
  for (const page of [light, dark]) await page.goto(url);
  await light.locator('.row[data-condition="unavailable"]').first().waitFor({ timeout: 60_000 });
  await pause(2_500);
  await light.screenshot({ path: join(images, 'status-page.png') });
  await dark.screenshot({ path: join(images, 'status-page-mobile.png') });
} finally {
  await browser.close();
  await Promise.all([broker.stop(), sandbox.stop()]);
  await rm(folder, { recursive: true });
}
