import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { describeWith, endedAfterEach, eventually, freePort, RedisProcess, SkippingClock } from '#libs/testing';
import { runCli } from '../../apps/cli/src/program.js';
import { RunningBroker, TOKENS } from './running-broker.js';

const REFUSAL = { kind: 'error', status: 400, msgCode: 'b_merchant_not_found', operation: 'authorize' };
const FIRST_REFUSALS = 4;
const CAUSE = 'Payments fail: the bank refuses: b_merchant_not_found';
/** For ten seconds after it was created, a session is new enough for everybody. */
const NEW_ENOUGH_MS = 10_000;
const ONCALL = '    - { caller: oncall, merchants: [shop], allow: [session:read] }';

interface Told {
  readonly out: string;
  readonly err: string;
}
interface Ended extends Told {
  readonly code: number;
}

describeWith(['redis-server'], 'the commands for the person on call', () => {
  let broker: RunningBroker;
  let environment: Record<string, string>;
  const started = endedAfterEach();

  async function start(setUp: Parameters<typeof RunningBroker.start>[0] = {}): Promise<void> {
    const may = `  - ${ONCALL.trim().slice(2)}`;
    broker = started.add(await RunningBroker.start({ auth: [may], ...setUp }), (it) => it.close());
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

  function command(...args: readonly string[]): Told & { readonly ended: Promise<number>; readonly end: () => void } {
    const ending = new AbortController();
    const told = { out: '', err: '' };
    const terminal = {
      out: (text: string) => void (told.out += `${text}\n`),
      err: (text: string) => void (told.err += `${text}\n`),
    };
    const ended = runCli(args, { terminal, environment, signal: ending.signal, clock: new SystemClock() });
    const end = (): void => ending.abort();
    void started.add(ended, async (it) => {
      end();
      await it;
    });
    return Object.assign(told, { ended, end });
  }

  async function cli(...args: readonly string[]): Promise<Ended> {
    const told = command(...args);
    const code = await told.ended;
    return { code, out: told.out, err: told.err };
  }

  it('show every merchant of a replica, in a table without colours where nobody reads it on a terminal', async () => {
    await start();
    const { code, out, err } = await cli('status');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')).toEqual([
      `${hostname()}  ${broker.url}`,
      '',
      expect.stringMatching(/^MERCHANT {2}REPLICA +STATE {2}LEFT +NEXT +GENERATION$/),
      expect.stringMatching(new RegExp(`^shop {6}${hostname()} +fresh {2}\\S.* {2}renewal in \\S.* {2}\\d{13}$`)),
      '',
    ]);
  });

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

  it('say that a session which could not be opened has most likely ended ours, and that payments do not go on', async () => {
    const clock = new SkippingClock();
    await start({ clock });
    await broker.control('POST', '/faults', { kind: 'wrong_key' });
    expect((await cli('renew', '--merchant', 'shop')).out).toContain(' within the last ten seconds already');
    clock.skip(NEW_ENOUGH_MS);
    const wished = await cli('renew', '--merchant', 'shop');
    const lost = "the bank's new session opens with none of our keys";
    expect(wished.err + wished.out).toMatch(new RegExp(`shop was not renewed: ${lost} `, 'i'));
    const { out } = await cli('status');
    expect(out).toMatch(new RegExp(`\nshop +${hostname()} +dead `));
    expect(out).toContain(`\nshop: Payments fail: ${lost} (runbook: access-refused)\n`);
  });

  it('say that the store is away, though every session is fresh', async () => {
    const redis = started.add(await RedisProcess.start(), (it) => it.stop());
    await start({ store: `{ type: redis, url: '${redis.url}' }` });
    expect((await cli('status')).code).toBe(0);
    await redis.stop();
    await eventually(async () => (await cli('status')).code === 4);
    await eventually(async () => (await cli('status')).out.includes('ECONNREFUSED'));
    const { out } = await cli('status');
    expect(out).toContain('\nThe store does not answer (ECONNREFUSED) (runbook: store-down)\n');
    expect(out).toMatch(/\nshop .* fresh +\S.* +nothing is renewed +/);
    expect(JSON.parse((await cli('status', '--json')).out)).toMatchObject({
      ok: false,
      replicas: [{ store: 'silent', storeReason: 'ECONNREFUSED', runbook: 'store-down' }],
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

  it('show of a session that is new, and dead all the same, who ends it', async () => {
    await start();
    const { body } = await broker.as(TOKENS.payments).get('/v1/merchants/shop/session').expect(200);
    const reject = async (generation: unknown): Promise<Record<string, unknown>> =>
      (await (
        await broker.post('/v1/merchants/shop/session/rejections', { generation, reason: 'b_used_token' })
      ).json()) as never;
    const newer = await reject((body as Record<string, unknown>)['generation']);
    const cause = 'Payments fail: somebody else creates sessions with the bank, and each ends ours';
    expect(await reject(newer['generation'])).toMatchObject({ cause });
    const renewed = await cli('renew', '--merchant', 'shop');
    expect(renewed).toMatchObject({
      code: 0,
      out: expect.stringContaining(' was created within the last ten seconds already') as string,
    });
    expect(await cli('status')).toMatchObject({
      code: 4,
      out: expect.stringContaining(`\nshop: ${cause} (runbook: foreign-authorizer)\n`) as string,
    });
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

  it('say what is missing when no broker or no token is there', async () => {
    await start();
    environment = { BROKER_URL: '', BROKER_TOKEN_FILE: '' };
    for (const verb of [['status'], ['renew', '--merchant', 'shop'], ['session', 'watch', '--merchant', 'shop']]) {
      const err = expect.stringContaining('give --url, or set BROKER_URL') as string;
      expect([verb, await cli(...verb)]).toEqual([verb, { code: 64, out: '', err }]);
    }
    const gone = await cli('status', '--url', broker.url, '--token-file', join(broker.folder, 'nowhere'));
    expect(gone).toMatchObject({
      code: 2,
      err: expect.stringMatching(/the token file does not exist; check the path/),
    });
  });

  it('say of a mistyped merchant that there may be none, and what to do', async () => {
    await start();
    const said =
      /there is no such merchant \[HTTP 403, forbidden\]\nWhat to do: grant it in auth\.policies of the broker\n$/;
    expect(await cli('renew', '--merchant', 'shpo')).toMatchObject({ code: 3, out: expect.stringMatching(said) });
    expect(await cli('session', 'watch', '--merchant', 'shpo')).toMatchObject({
      code: 3,
      err: expect.stringMatching(said),
    });
  });

  it('say that the port is that of the management, and that the API has another', async () => {
    await start();
    const said = 'this is the management port of a broker; its API is on another port';
    const asked = await cli('status', '--url', broker.managementUrl);
    expect(asked).toMatchObject({ code: 2, out: expect.stringContaining(said) });
  });

  it('follow the sessions of a merchant, a line for each and nothing secret in it, until they are asked to end', async () => {
    await start();
    const watching = command('session', 'watch', '--merchant', 'shop');
    const line = /Z {2}shop {2}generation (\d{13}) {2}expires .*Z \(in [^)]+\) {2}client key /;
    await eventually(() => line.test(watching.out));
    const [, first = ''] = line.exec(watching.out) ?? [];
    await broker
      .as(TOKENS.payments)
      .post('/v1/merchants/shop/session/rejections')
      .send({ generation: Number(first) });
    await eventually(() => watching.out.split('\n').length === 3);
    const { body } = await broker.as(TOKENS.payments).get('/v1/merchants/shop/session').expect(200);
    const { generation, authToken, deviceId } = body as Record<string, string>;
    expect(watching.out).toContain(`generation ${generation} `);
    await broker.close();
    await eventually(() => /^\d{4}-\S+Z {2}interrupted: /m.test(watching.err));
    expect(watching.err).toMatch(/^\d{4}-\S+Z {2}following http/);
    watching.end();
    expect(await watching.ended).toBe(0);
    for (const secret of [authToken, deviceId, TOKENS.oncall])
      expect(watching.out + watching.err).not.toContain(secret);
  });
});
