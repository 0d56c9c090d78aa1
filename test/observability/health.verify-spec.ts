import { readFileSync } from 'node:fs';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { panels, RULES } from '../deploy/monitoring.js';
import { emptyPanels } from './empty-panels.js';
import { PlayedEgress } from './played-egress.js';
import { hastened, PrometheusProcess } from './prometheus-process.js';
import { WatchedReplicas } from './watched-replicas.js';

describeWith(['redis-server', 'prometheus'], 'a replica and an egress that are well', () => {
  let watched: WatchedReplicas;
  let prometheus: PrometheusProcess;
  let egress: PlayedEgress;

  const started = endedAfterAll();
  beforeAll(async () => {
    watched = started.add(
      await WatchedReplicas.start([{ id: 'shop', lifetimeMs: 60_000, timeout: '5s' }], [], 1),
      (it) => it.stop(),
    );
    egress = started.add(await PlayedEgress.start(), (it) => it.stop());
    const rules = hastened(readFileSync(RULES, 'utf8'));
    prometheus = started.add(
      await PrometheusProcess.start({ targets: watched.targets, egresses: [egress.target], rules }),
      (it) => it.stop(),
    );
  });

  it('have data in every panel of the dashboard', async () => {
    egress.end('answered');
    const before = await watched.generationOf('shop');
    await eventually(async () => (await watched.generationOf('shop')) > before);
    expect(panels.filter(({ targets = [] }) => targets.length > 0).length).toBeGreaterThan(10);
    // A rate needs two scrapes.
    let last: readonly string[] = [];
    await eventually(async () => (last = await emptyPanels(prometheus)).length === 0, 90_000).catch(() => undefined);
    expect(last).toEqual([]);
  });

  it('raise no alert, and none that is pending', async () => {
    expect(await prometheus.query('ALERTS')).toEqual([]);
  });
});
