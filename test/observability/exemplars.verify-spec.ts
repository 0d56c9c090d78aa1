import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { attributesOf, Collector } from './collector.js';
import { ObservedBroker } from './observed-broker.js';
import { PrometheusProcess } from './prometheus-process.js';

const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

describeWith('prometheus', 'a real Prometheus that keeps exemplars', () => {
  let collector: Collector;
  let broker: ObservedBroker;
  let prometheus: PrometheusProcess;

  const started = endedAfterAll();
  beforeAll(async () => {
    collector = started.add(await Collector.start(), (it) => it.close());
    broker = started.add(await ObservedBroker.start(collector.environment), (it) => it.stop());
    await broker.session();
    prometheus = started.add(
      await PrometheusProcess.start({ targets: [new URL(broker.managementUrl).host], rules: 'groups: []' }),
      (it) => it.stop(),
    );
  });

  it('leads from the time that a renewal took to its trace', async () => {
    const ofStartup = (): string | undefined =>
      collector.named('renewal').find((span) => attributesOf(span)['session_broker.trigger'] === 'startup')?.traceId;
    await eventually(() => ofStartup() !== undefined);
    const series = 'session_broker_renewal_duration_seconds_bucket{merchant="shop"}';
    await eventually(async () => (await prometheus.exemplars(series)).length > 0);
    const [exemplar] = await prometheus.exemplars(series);
    expect(exemplar?.labels['trace_id']).toBe(ofStartup());
    expect(exemplar?.labels['span_id']).toMatch(/^[0-9a-f]{16}$/);
    expect(Number(exemplar?.value)).toBeGreaterThan(0);
  });

  it('takes every sample of both texts for the same series', async () => {
    const samples = async (accept: string): Promise<string[]> => {
      const response = await fetch(`${broker.managementUrl}/metrics`, { headers: { accept } });
      const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return lines.map((line) => line.replace(/ # .*/, '').replace(/ \S+$/, '')).sort();
    };
    expect(await samples(OPENMETRICS)).toEqual(await samples('text/plain'));
  });
});
