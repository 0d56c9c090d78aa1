import { readdirSync } from 'node:fs';
import { createLogger } from './logger.js';
import { startTelemetry, type Telemetry } from './telemetry.js';

async function scraped({ scrape }: Telemetry): Promise<string> {
  return new Promise((resolve) =>
    scrape({ headers: {} }, { writeHead: () => undefined, end: (body) => resolve(String(body)) }),
  );
}

describe('the metrics of the process and of Node.js', () => {
  let telemetry: Telemetry;

  beforeAll(async () => {
    const logger = createLogger({ name: 'broker', level: 'error' });
    telemetry = await startTelemetry({ serviceName: 'session-broker', serviceVersion: '1', logger });
  });
  afterAll(() => telemetry.shutdown());

  const valueOf = async (series: string): Promise<number> => {
    const line = (await scraped(telemetry)).split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  };

  it('tell what the process uses', async () => {
    const used = process.cpuUsage();
    expect(await valueOf('process_cpu_seconds_total')).toBeGreaterThanOrEqual((used.user + used.system) / 1_000_000);
    expect(await valueOf('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(await valueOf('process_start_time_seconds')).toBeGreaterThan(1_700_000_000);
    const open = readdirSync('/proc/self/fd').length;
    expect(Math.abs((await valueOf('process_open_fds')) - open)).toBeLessThan(20);
    expect(await valueOf('process_max_fds')).toBeGreaterThan(open);
  });

  it('tell how the runtime does', async () => {
    expect(await valueOf('nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000);
    expect(await valueOf('nodejs_heap_space_size_used_bytes{space="old"}')).toBeGreaterThan(0);
    expect(await valueOf('nodejs_active_handles_total')).toBeGreaterThanOrEqual(0);
    const [major, minor, patch] = process.versions.node.split('.');
    const version = `version="${process.version}",major="${major}",minor="${minor}",patch="${patch}"`;
    expect(await valueOf(`nodejs_version_info{${version}}`)).toBe(1);
  });
});
