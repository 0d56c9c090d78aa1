import { spawnSync } from 'node:child_process';
import { createLogger, startTelemetry } from '#libs/telemetry';
import { describeWith, toolPath } from '#libs/testing';

describeWith('prometheus', 'a scrape, by the lint of Prometheus', () => {
  it('is well-formed, with labels and histograms', async () => {
    const logger = createLogger({ name: 'broker', level: 'error' });
    const telemetry = await startTelemetry({ serviceName: 'session-broker', serviceVersion: '1', logger });
    try {
      const description = 'Of "clients",\nall of them';
      telemetry.meter.createCounter('requests', { description }).add(2, { 'http.route': 'a"b\\c\nd', status: 200 });
      const buckets = { explicitBucketBoundaries: [0.5, 1] };
      const waits = telemetry.meter.createHistogram('http.wait', { description, unit: 's', advice: buckets });
      waits.record(0.75);
      const input = await new Promise<string>((resolve) =>
        telemetry.scrape({ headers: {} }, { writeHead: () => undefined, end: (body) => resolve(String(body)) }),
      );
      expect(input).toContain('http_wait_seconds_bucket');
      const promtool = toolPath('prometheus', 'promtool');
      const { stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input, encoding: 'utf8' });
      expect(
        `${stdout}${stderr}`
          .split('\n')
          .filter((line) => line !== '')
          .toSorted(),
      ).toEqual([]);
    } finally {
      await telemetry.shutdown();
    }
  });
});
