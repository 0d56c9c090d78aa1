import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { endedAfterEach, freePort } from '#libs/testing';
import { runCli } from '../../apps/cli/src/program.js';
import { RunningBroker, TOKENS } from './running-broker.js';

const REFUSAL = { kind: 'error', status: 400, msgCode: 'b_merchant_not_found', operation: 'authorize' };
const FIRST_REFUSALS = 4;
const CAUSE = 'Payments fail: the bank refuses: b_merchant_not_found';
const ONCALL = '  - { caller: oncall, merchants: [shop], allow: [session:read] }';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

// What is said of each state: apps/cli/src/broker/broker-commands.int-spec.ts, by a played broker.
describe('the commands for the person on call', () => {
  let broker: RunningBroker;
  let environment: Record<string, string>;
  const started = endedAfterEach();

  async function start(setUp: Parameters<typeof RunningBroker.start>[0] = {}): Promise<void> {
    broker = started.add(await RunningBroker.start({ auth: [ONCALL], ...setUp }), (it) => it.close());
    const tokenFile = join(broker.folder, 'oncall.token');
    await writeFile(tokenFile, `${TOKENS.oncall}\n`);
    environment = { BROKER_URL: broker.url, BROKER_TOKEN_FILE: tokenFile };
    await broker.as(TOKENS.payments).get('/v1/merchants/shop/session');
    // The first refusals are repeated soon. After these, nothing but a person asks again while the test runs.
    if (setUp.faults === undefined) return;
    for (let refused = 0; refused < FIRST_REFUSALS; refused += 1) {
      await broker.as(TOKENS.oncall).post('/v1/merchants/shop/session/renewal').expect(503);
    }
  }

  async function cli(...args: readonly string[]): Promise<Ended> {
    const told = { out: '', err: '' };
    const terminal = {
      out: (text: string) => void (told.out += `${text}\n`),
      err: (text: string) => void (told.err += `${text}\n`),
    };
    const { signal } = new AbortController();
    const code = await runCli(args, { terminal, environment, signal, clock: new SystemClock() });
    return { code, ...told };
  }

  it('show what is the matter, replica by replica, and end with the code of the gravest', async () => {
    await start({ faults: [REFUSAL] });
    const dead = `http://127.0.0.1:${await freePort()}`;
    const { code, out } = await cli('status', '--url', broker.url, dead);
    expect(code).toBe(3);
    expect(out).toMatch(new RegExp(`\nshop +${hostname()} +unavailable +- +attempt in \\d+m \\d+s +-\n`));
    expect(out).toMatch(
      new RegExp(
        `\n\nshop: ${CAUSE} \\(runbook: access-refused\\)\nshop: the bank's support finds the last attempt by gatewayRequestId .*\n${dead}: nothing listens there \\(ECONNREFUSED to ${new URL(dead).host}\\)\nWhat to do: see whether .*\n$`,
      ),
    );
    const { out: json } = await cli('status', '--json', '--url', broker.url, dead);
    expect(JSON.parse(json)).toMatchObject({
      ok: false,
      replicas: [
        { place: broker.url, replica: hostname(), merchants: [{ id: 'shop', state: 'unavailable', cause: CAUSE }] },
        {
          place: dead,
          error: { code: 'broker_unreachable', message: expect.stringMatching(/^nothing listens there/) as string },
        },
      ],
    });
  });

  it('show that a session is reported dead and cannot be replaced, though it looks fresh', async () => {
    await start({ session: '{ budget: [{ calls: 1, per: 1h }] }' });
    const { body } = await broker.as(TOKENS.payments).get('/v1/merchants/shop/session').expect(200);
    const { generation } = body as { generation: number };
    const because = 'Payments fail, by report: the one create call of 1 h is spent';
    const refused = await broker.post('/v1/merchants/shop/session/rejections', { generation, reason: 'b_used_token' });
    expect(await refused.json()).toMatchObject({ reason: 'budget_exhausted', cause: expect.stringContaining(because) });
    const { code, out } = await cli('status');
    expect(code).toBe(4);
    expect(out).toMatch(/\nshop .* dead /);
    expect(out).toMatch(new RegExp(`\nshop: ${because}; the next is free at .*UTC \\(runbook: budget-exhausted\\)\n`));
  });

  it('renew a merchant once the bank has mended what it refused, and say until then what is the matter', async () => {
    await start({ faults: [REFUSAL] });
    const refused = await cli('renew', '--merchant', 'shop');
    expect(refused.code).toBe(3);
    expect(refused.out).toMatch(`shop was not renewed: ${CAUSE} [HTTP 503, session_unavailable]\n`);
    expect(refused.out).toMatch(/\nWhat to do: compare serviceCode .* \(runbook: access-refused\)\n$/);
    await broker.control('DELETE', '/faults');
    const renewed = await cli('renew', '--merchant', 'shop');
    expect(renewed).toMatchObject({ code: 0, err: '' });
    const { body } = await broker.as(TOKENS.payments).get('/v1/merchants/shop/session').expect(200);
    const { generation, authToken, deviceId } = body as Record<string, string>;
    expect(renewed.out).toMatch(
      new RegExp(`^session +of shop was created\ngeneration +${generation}\nexpires at +.*Z\nclient key +`),
    );
    const again = await cli('renew', '--merchant', 'shop', '--json');
    expect(JSON.parse(again.out)).toMatchObject({ ok: true, result: 'just_renewed', generation });
    for (const secret of [authToken, deviceId, TOKENS.oncall]) expect(renewed.out + again.out).not.toContain(secret);
    expect((await cli('status')).code).toBe(0);
  });
});
