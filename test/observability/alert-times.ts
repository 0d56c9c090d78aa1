import { eventually } from '#libs/testing';
import { runbookOf } from '../deploy/monitoring.js';
import { HASTE, type PrometheusProcess } from './prometheus-process.js';

interface Row {
  readonly fault: string;
  readonly alert: string;
  readonly firedMs: number;
  endedMs?: number;
  /** What `session-broker status` says of it, and the words of the runbook that cured it. */
  told?: { readonly status: string; readonly step: string };
}

const nothing = (): Promise<unknown> => Promise.resolve();

/** How long after a fault its alert fires, and how long after the end of the fault it is silent again. */
export class AlertTimes {
  readonly #rows: Row[] = [];
  readonly #prometheus: () => PrometheusProcess;

  constructor(prometheus: () => PrometheusProcess) {
    this.#prometheus = prometheus;
  }

  /**
   * Waits until it fires, for a fault that has just begun.
   * @param meanwhile what keeps the fault up
   */
  async fires(fault: string, alert: string, meanwhile = nothing): Promise<void> {
    this.#rows.push({ fault, alert, firedMs: await this.#until(alert, true, meanwhile) });
  }

  /** Waits until it is silent: the fault has just ended. */
  async ends(alert: string, meanwhile = nothing): Promise<void> {
    const endedMs = await this.#until(alert, false, meanwhile);
    for (const row of this.#rows) if (row.alert === alert) row.endedMs = endedMs;
  }

  /** The alert is firing. */
  tell(alert: string, told: NonNullable<Row['told']>): void {
    for (const row of this.#rows) if (row.alert === alert) row.told = told;
  }

  /** For whom `npm run verify` shows it: the lines of a Markdown table, as long as it would take with the rules as they are. */
  print(): void {
    const lasted = (ms: number | undefined): string =>
      ms === undefined ? '' : `${Math.round((ms * HASTE) / 1_000)} s`;
    const rows = this.#rows.map(
      ({ fault, alert, firedMs, endedMs, told: { status, step } = { status: '', step: '' } }) => {
        const [name = ''] = alert.split(':');
        const page = runbookOf(name).replace(/^.*\/|\.md$/g, '');
        return [fault, name, lasted(firedMs), lasted(endedMs), page, status, step];
      },
    );
    const head = ['fault', 'alert', 'fires after', 'ends after', 'runbook', 'status', 'cured by'];
    process.stdout.write([head, ...rows].map((cells) => `\n| ${cells.join(' | ')} |`).join('') + '\n');
  }

  async #until(alert: string, wanted: boolean, meanwhile: () => Promise<unknown>): Promise<number> {
    const sinceMs = performance.now();
    await eventually(async () => {
      await meanwhile();
      return (await this.#prometheus().firing()).has(alert) === wanted;
    });
    return performance.now() - sinceMs;
  }
}
