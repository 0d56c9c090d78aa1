import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { type Chosen, panels, RULES } from '../deploy/monitoring.js';
import { PlayedEgress } from './played-egress.js';
import { hastened, PrometheusProcess } from './prometheus-process.js';
import { emptyQueries, verdicts } from './shown-panels.js';
import { WatchedReplicas } from './watched-replicas.js';

const SHOP = [{ id: 'shop', lifetimeMs: 60_000, timeout: '5s' }];
const REFUSED = [{ kind: 'error', operation: 'authorize', status: 200, msgCode: 'b_merchant_not_found' }];
const STAGING = { cluster: 'south', namespace: 'staging' };
const PRODUCTION = { cluster: 'north', namespace: 'production' };
const NO_ALERTS = ['Alerts', 'marks of alerts'];

describeWith(['redis-server', 'prometheus'], 'a replica and an egress that are well', () => {
  let watched: WatchedReplicas;
  /** Another cluster and namespace, where a merchant of the same name has no session. */
  let elsewhere: WatchedReplicas;
  let prometheus: PrometheusProcess;
  let egress: PlayedEgress;

  const started = endedAfterAll();
  beforeAll(async () => {
    watched = started.add(await WatchedReplicas.start(SHOP, [], 1), (it) => it.stop());
    elsewhere = started.add(await WatchedReplicas.start(SHOP, REFUSED, 1), (it) => it.stop());
    egress = started.add(await PlayedEgress.start(), (it) => it.stop());
    const labels: Record<string, Record<string, string>> = {};
    for (const target of [...watched.targets, egress.target]) labels[target] = STAGING;
    for (const target of elsewhere.targets) labels[target] = PRODUCTION;
    const targets = [...watched.targets, ...elsewhere.targets];
    const rules = hastened(readFileSync(RULES, 'utf8'));
    prometheus = started.add(
      await PrometheusProcess.start({ targets, egresses: [egress.target], labels, rules }),
      (it) => it.stop(),
    );
  });

  /** Once it is so, or as it is in the end, while sessions are read and payments made. */
  const shown = async (wanted: object, look: () => Promise<object>): Promise<object> => {
    let last = {};
    const isSo = async (): Promise<boolean> => {
      for (const replicas of [watched, elsewhere]) await replicas.generationOf('shop');
      egress.end('answered');
      return isDeepStrictEqual((last = await look()), wanted);
    };
    await eventually(isSo, 90_000).catch(() => undefined);
    return last;
  };
  const verdictsOf = (chosen?: Chosen) => (): Promise<object> => verdicts(prometheus, chosen);

  it('are green in every verdict of the dashboard', async () => {
    const before = await watched.generationOf('shop');
    await eventually(async () => (await watched.generationOf('shop')) > before);
    const stats = panels.filter(({ type }) => type === 'stat').map(({ title }) => title);
    const green = Object.fromEntries(stats.map((title) => [title, 'green']));
    expect(await shown(green, verdictsOf(STAGING))).toEqual(green);
  });

  it('have data in everything that the dashboard shows, but in alerts', async () => {
    // A rate needs two scrapes.
    const look = async (): Promise<object> => emptyQueries(prometheus, STAGING);
    expect(await shown(NO_ALERTS, look)).toEqual(NO_ALERTS);
  });

  it('raise no alert, and none that is pending', async () => {
    expect(await prometheus.query('ALERTS{namespace="staging"}')).toEqual([]);
  });

  it('do not make up for a merchant of the same name in another namespace', async () => {
    const elsewhereIs = {
      'Worst condition': 'red',
      'Merchants in red': 'red',
      Store: 'green',
      Scraped: 'green',
      'Reads refused': 'red',
      'Time without a session': 'red',
    };
    expect(await shown(elsewhereIs, verdictsOf(PRODUCTION))).toEqual(elsewhereIs);
    expect(await shown(elsewhereIs, verdictsOf({ cluster: 'north' }))).toEqual(elsewhereIs);
    expect(await verdictsOf()()).toMatchObject(elsewhereIs);
  });

  it('are not taken for what is not there', async () => {
    expect(await verdicts(prometheus, { cluster: 'north', namespace: 'staging' })).toEqual({});
  });
});
