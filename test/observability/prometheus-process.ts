import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort, startedWhole, toolPath } from '#libs/testing';

export interface PrometheusOptions {
  /** host:port of the management port of each broker. */
  readonly targets: readonly string[];
  /** The same for each egress. */
  readonly egresses?: readonly string[];
  /** What discovery adds to the series of a target, such as its namespace. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly rules: string;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
}

interface Answer<Data> {
  readonly status: string;
  readonly error?: string;
  readonly data: Data;
}

const nothing = (): Promise<unknown> => Promise.resolve();

/** A real Prometheus that scrapes and evaluates twice a second. */
export class PrometheusProcess {
  readonly #folder: string;
  readonly #url: string;
  readonly #child: ChildProcess;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#url = `http://127.0.0.1:${port}/api/v1`;
    const args = [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ];
    this.#child = spawn(toolPath('prometheus'), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  }

  static async start(options: PrometheusOptions): Promise<PrometheusProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-prometheus-'));
    await writeFile(join(folder, 'rules.yml'), options.rules);
    await writeFile(join(folder, 'prometheus.yml'), configuration(options));
    const prometheus = new PrometheusProcess(folder, await freePort());
    const isThere = (): Promise<boolean> =>
      prometheus.query('vector(1)').then(
        () => true,
        () => false,
      );
    return startedWhole(prometheus, { start: () => eventually(isThere), end: () => prometheus.stop() });
  }

  /** @throws Error with what Prometheus says about the expression */
  async query(expr: string): Promise<readonly Sample[]> {
    const data = await this.#ask<{ result: readonly Sample[] }>(`/query?query=${encodeURIComponent(expr)}`);
    return data.result;
  }

  /** Alerts that are firing now, as `name` and `name:merchant`. */
  async firing(): Promise<Set<string>> {
    const data = await this.#ask<{ alerts: readonly { labels: Record<string, string>; state: string }[] }>('/alerts');
    const firing = data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
    return new Set(
      firing.flatMap(({ alertname = '', merchant }) =>
        merchant === undefined ? [alertname] : [alertname, `${alertname}:${merchant}`],
      ),
    );
  }

  /** Waits until the alert fires. @param meanwhile what keeps its fault up */
  fires(alert: string, meanwhile = nothing): Promise<void> {
    return eventually(async () => meanwhile().then(async () => (await this.firing()).has(alert)));
  }

  /** Waits until it is silent. */
  ends(alert: string): Promise<void> {
    return eventually(async () => !(await this.firing()).has(alert));
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
    await rm(this.#folder, { recursive: true });
  }

  async #ask<Data>(path: string): Promise<Data> {
    const answer = (await (await fetch(this.#url + path)).json()) as Answer<Data>;
    if (answer.status !== 'success') throw new Error(answer.error);
    return answer.data;
  }
}

/** How many times as fast as in production the rules are played. */
const HASTE = 15;
const MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/**
 * The rules with every window, step, offset and `for` a fifteenth as long, so that minutes of trouble pass in seconds.
 * The unit tests of the rules check the real durations.
 */
export function hastened(rules: string): string {
  return rules.replace(/(?<=\[|\[\d+[smh]:|offset |for: )\d+[smh]\b/g, (duration) => {
    const ms = Number.parseInt(duration) * MS[duration.at(-1) as keyof typeof MS];
    return `${Math.max(1_000, Math.round(ms / HASTE))}ms`;
  });
}

function configuration({ targets, egresses = [], labels }: Omit<PrometheusOptions, 'rules'>): string {
  const jobs = { 'session-broker': targets, 'session-egress': egresses };
  return JSON.stringify({
    global: { scrape_interval: '500ms', scrape_timeout: '400ms', evaluation_interval: '500ms' },
    rule_files: ['rules.yml'],
    scrape_configs: Object.entries(jobs).map(([job, of]) => ({
      job_name: job,
      static_configs: of.map((target) => ({ targets: [target], labels: labels?.[target] ?? {} })),
    })),
  });
}
