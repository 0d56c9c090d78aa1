import { readFile, writeFile } from 'node:fs/promises';
import { describeWith, endedAfterAll, eventually, freePort, TestIssuer } from '#libs/testing';
import { RULES, runbookOf } from '../deploy/monitoring.js';
import { DAY_MS, PlayedEgress } from './played-egress.js';
import { hastened, PrometheusProcess } from './prometheus-process.js';
import { emptyQueries, verdicts } from './shown-panels.js';
import { WatchedReplicas } from './watched-replicas.js';

const HOUR_MS = 3_600_000;
const RENEW = '`session-broker renew --merchant shop`';

/** `status` does not tell of it. */
const NOTHING = /(?:)/;

/** A fault, from its beginning to the step of a runbook that cures it. */
interface Night {
  /** What pages, as `name` or `name:merchant`. */
  readonly alert: string;
  readonly begin: () => unknown;
  /** Keeps the fault up. */
  readonly meanwhile?: () => Promise<unknown>;
  /** A line of `session-broker status` while the alert fires: the cause of its merchant, unless something else is said. */
  readonly status?: RegExp;
  /** The number of the dashboard that shows it, and its colour until it is cured. */
  readonly panel?: readonly [title: string, colour: string] | undefined;
  /** The words of the runbook that say what cures it, and the doing. */
  readonly step: string;
  readonly cure: () => unknown;
}

/** Each night is played alone on its merchant, its replica or the store, as long as it takes. */
describeWith(['redis-server', 'prometheus'], 'a night on call, with a real Prometheus', () => {
  let watched: WatchedReplicas;
  let prometheus: PrometheusProcess;
  let egress: PlayedEgress;
  /** Those of one merchant do not disturb each other, and begin together. */
  let played: ReadonlyMap<Night, Promise<void>>;

  const started = endedAfterAll();
  beforeAll(async () => {
    const merchants = [
      { id: 'steady', lifetimeMs: 20_000 },
      // The first of its alerts can be seen for a third of a lead time: more than four seconds of this one.
      { id: 'late', lifetimeMs: 60_000 },
      { id: 'silent', lifetimeMs: 45_000 },
      { id: 'cut', lifetimeMs: 45_000 },
      { id: 'refused', lifetimeMs: HOUR_MS },
      { id: 'key', lifetimeMs: HOUR_MS },
      { id: 'dead', lifetimeMs: HOUR_MS },
      { id: 'spent', lifetimeMs: 60_000, session: { budget: [{ calls: 2, per: '10m' }] } },
      { id: 'skewed', lifetimeMs: HOUR_MS },
      { id: 'rivalled', lifetimeMs: 120_000, session: { foreignAuthorizerPause: '10s' }, timeout: '15s' },
    ];
    watched = started.add(await WatchedReplicas.start(merchants, [], 2), (it) => it.stop());
    egress = started.add(await PlayedEgress.start(), (it) => it.stop());
    egress.doEverything();
    const { targets } = watched;
    const hasty = hastened(await readFile(RULES, 'utf8'));
    prometheus = started.add(
      await PrometheusProcess.start({ targets, egresses: [egress.target], rules: hasty }),
      (it) => it.stop(),
    );
    await eventually(
      async () =>
        (await prometheus.query('session_broker_merchant_state{state="fresh"} == 1')).length === 2 * merchants.length,
    );
    // While it is starting, Prometheus has seen no replica.
    await eventually(async () => (await prometheus.firing()).size === 0);
    played = new Map(merchantNights.map((night) => [night, play(night)]));
    await Promise.allSettled(played.values());
  }, 400_000);

  const cli = (...args: readonly string[]): ReturnType<WatchedReplicas['cli']> =>
    watched.cli(...args, '--url', watched.replicas.map(({ url }) => url).join(','));
  /** Until it makes a call: a session may be too young for that. */
  const renew = (
    merchant: string,
    isEnough = ({ code }: { code: number | null }): boolean => code === 0,
  ): Promise<void> =>
    eventually(async () => {
      const told = await cli('renew', '--merchant', merchant);
      return isEnough(told) && !told.out.includes(' already');
    });
  const token = new TestIssuer().token(Date.now());
  const faults = new Map<string, string>();
  /** From now on each create call meets it; a person makes the first. */
  async function breaks(merchant: string, fault: object): Promise<void> {
    const answer = await watched.control('POST', '/faults', { operation: 'authorize', merchant, ...fault });
    faults.set(merchant, (answer as { readonly id: string }).id);
    await renew(merchant, () => true);
  }
  const mends = (merchant: string): Promise<unknown> => watched.control('DELETE', `/faults/${faults.get(merchant)}`);
  async function configure(change: (configuration: Configured) => void): Promise<void> {
    for (const { file, process } of watched.replicas) {
      const configuration = JSON.parse(await readFile(file, 'utf8')) as Configured;
      change(configuration);
      await writeFile(file, JSON.stringify(configuration));
      process.signal('SIGHUP');
    }
  }
  const reject = async (merchant: string): Promise<unknown> =>
    watched.reject(merchant, await watched.generationOf(merchant));

  const shows = (title: string, colour: string, merchant?: string): Promise<void> =>
    eventually(async () => (await verdicts(prometheus, merchant === undefined ? {} : { merchant }))[title] === colour);

  async function play({ alert, begin, meanwhile, panel, step, cure, ...told }: Night): Promise<void> {
    const [name = '', merchant] = alert.split(':');
    await begin();
    await prometheus.fires(alert, meanwhile);
    if (panel !== undefined) await shows(...panel, merchant);
    const { status = causeOf(merchant) } = told;
    const { out } = await cli('status');
    expect(out).toMatch(status);
    const page = await fetch(`http://${watched.replicas[0]?.management}/${runbookOf(name)}`);
    expect({ status: page.status, text: await page.text() }).toEqual({
      status: 200,
      text: expect.stringContaining(step),
    });
    await cure();
    await prometheus.ends(alert);
    if (panel !== undefined) await shows(panel[0], 'green', merchant);
  }

  /** Each create call of the alert's merchant meets a trouble, until somebody has mended it and a person renews. */
  function callsThatFail(alert: string, trouble: object, night: Partial<Night> = {}): Night {
    const [, merchant = ''] = alert.split(':');
    return {
      alert,
      step: `When it is fixed: ${RENEW}`,
      panel: ['Worst condition', 'red'],
      begin: () => breaks(merchant, trouble),
      cure: async () => mends(merchant).then(() => renew(merchant)),
      ...night,
    };
  }
  const ERROR = { kind: 'error' };

  const merchantNights: readonly Night[] = [
    callsThatFail('SessionBrokerSessionExpiring:late', ERROR, { panel: ['Least lead time left', 'orange'] }),
    callsThatFail('SessionBrokerNoSession:silent', ERROR),
    callsThatFail('SessionBrokerRenewalsFailing:cut', { kind: 'drop' }),
    callsThatFail(
      'SessionBrokerAccessRefused:refused',
      { ...ERROR, status: 200, msgCode: 'b_merchant_not_found' },
      { panel: ['Worst condition', 'orange'], step: `The bank has corrected something: ${RENEW}` },
    ),
    callsThatFail('SessionBrokerSessionDead:key', { kind: 'wrong_key' }),
    callsThatFail('SessionBrokerSessionDead:dead', ERROR, {
      begin: async () => breaks('dead', ERROR).then(() => reject('dead')),
    }),
    callsThatFail('SessionBrokerBudgetExhausted:spent', ERROR, {
      step: 'Raise `calls` of that window in `session.budget` if the bank agrees; it is taken without a restart',
      cure: async () => {
        await mends('spent');
        await configure(({ merchants }) => {
          const spent = merchants.find(({ id }) => id === 'spent');
          if (spent) spent.session = { budget: [{ calls: 10, per: '10m' }] };
        });
        await renew('spent');
      },
    }),
    callsThatFail(
      'SessionBrokerClockSkew:skewed',
      { kind: 'clock_skew', skewMs: 30_000 },
      { status: /^skewed .* fresh .*/m, panel: undefined, step: 'Theirs: tell the bank.' },
    ),
    {
      alert: 'SessionBrokerForeignAuthorizer:rivalled',
      begin: () => undefined,
      meanwhile: () => reject('rivalled'),
      panel: ['Worst condition', 'red'],
      step: `When it is gone: ${RENEW}`,
      cure: () => renew('rivalled'),
    },
  ];

  it.each(merchantNights)('is short when $alert fires', async (night) => {
    await played.get(night);
  });

  const otherNights: readonly Night[] = [
    {
      alert: 'SessionBrokerStoreDown',
      begin: () => watched.redis.kill(),
      status: /^.*store.*/m,
      panel: ['Store', 'red'],
      step: 'When it is back, everything is renewed within seconds.',
      cure: () => watched.redis.start(),
    },
    {
      alert: 'SessionBrokerStoreSlow',
      begin: () => undefined,
      meanwhile: async () => {
        await watched.redis.ask('CLIENT', 'PAUSE', '300');
        await watched.generationOf('skewed');
      },
      status: NOTHING,
      step: 'call those who run Redis',
      cure: () => undefined,
    },
    {
      alert: 'SessionBrokerConfigReloadFailed',
      begin: () => configure(({ auth }) => (auth.jwt = {})),
      status: /^.*configuration.*/m,
      step: 'Correct the file; it is taken within ten seconds, or at once on SIGHUP.',
      cure: () => configure(({ auth }) => delete auth.jwt),
    },
    {
      alert: 'SessionBrokerAuthenticationUnavailable',
      begin: async () => {
        const { ISSUER: issuer, AUDIENCE: audience } = TestIssuer;
        const jwt = { issuer, audience, jwksUri: `http://127.0.0.1:${await freePort()}/jwks` };
        await configure(({ auth }) => (auth.jwt = jwt));
      },
      meanwhile: () => watched.ask('steady', '/session', { headers: { authorization: `Bearer ${token}` } }),
      status: NOTHING,
      step: 'Compare `auth.jwt.jwksUri` with `jwks_uri`',
      cure: () => configure(({ auth }) => delete auth.jwt),
    },
    {
      alert: 'SessionBrokerCertificateExpiring',
      begin: () => (egress.certificateMs = 13 * DAY_MS),
      status: NOTHING,
      panel: ['Next certificate to end', 'orange'],
      step: 'Put the new one in place of the old, with its key.',
      cure: () => (egress.certificateMs = 90 * DAY_MS),
    },
    {
      alert: 'SessionBrokerReplicaDown',
      begin: () => watched.end(1),
      status: /^.*nothing listens there.*/m,
      panel: ['Scraped', 'orange'],
      step: 'Fix that; it starts again on its own.',
      cure: () => watched.restart(1),
    },
  ];

  it.each(otherNights)('is short when $alert fires', (night) => play(night));

  it('is silent on a merchant that is well', async () => {
    expect([...(await prometheus.firing())].filter((name) => name.endsWith(':steady'))).toEqual([]);
    for (const title of ['Worst condition', 'Merchants in red']) await shows(title, 'green', 'steady');
  });

  it('is long when all replicas are gone', async () => {
    await watched.end(0);
    await watched.end(1);
    await prometheus.fires('SessionBrokerAbsent');
    await shows('Scraped', 'red');
    // Nobody is left to say of which namespace it is.
    const empty = await emptyQueries(prometheus, { cluster: 'north', namespace: 'production' });
    expect(empty.filter((shown) => /alerts/i.test(shown))).toEqual([]);
  });
});

/** A cause that several merchants share is told once. */
const causeOf = (merchant = ''): RegExp =>
  new RegExp(`^(?:[\\w, ]+, )?${merchant}(?:, [\\w, ]+)?: .+ \\(runbook: [\\w-]+\\)$`, 'm');

interface Configured {
  readonly auth: { jwt?: object };
  readonly merchants: readonly { readonly id: string; session: object }[];
}
