import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { eventually, freePort, startedWhole, toolPath } from '#libs/testing';

export const ALERTMANAGER = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus', 'alertmanager.yml');

interface Configuration {
  readonly route: object;
  readonly receivers: readonly { readonly name: string; readonly slack_configs: readonly [object] }[];
}

/**
 * A real Alertmanager with the example's configuration, which sends its messages to `url`: to the name of the receiver,
 * and to `/hook`.
 */
export class AlertmanagerProcess {
  readonly address: string;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.address = `127.0.0.1:${port}`;
    const args = [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${this.address}`,
      '--cluster.listen-address=',
      '--log.level=error',
    ];
    this.#child = spawn(toolPath('alertmanager', 'prometheus-alertmanager'), args, {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  static async start(url: string): Promise<AlertmanagerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'session-broker-alertmanager-'));
    const example = parse(await readFile(ALERTMANAGER, 'utf8'), { merge: true }) as Configuration;
    const configuration = {
      ...example,
      route: { ...example.route, group_wait: '0s', group_interval: '1s' },
      receivers: example.receivers.map(({ name, slack_configs: [chat] }) => ({
        name,
        slack_configs: [{ ...chat, api_url: `${url}/${name}` }],
        webhook_configs: [{ url: `${url}/hook` }],
      })),
    };
    await writeFile(join(folder, 'alertmanager.yml'), JSON.stringify(configuration));
    const alertmanager = new AlertmanagerProcess(folder, await freePort());
    const isReady = (): Promise<boolean> =>
      fetch(`http://${alertmanager.address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    return startedWhole(alertmanager, { start: () => eventually(isReady), end: () => alertmanager.stop() });
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    await rm(this.#folder, { recursive: true });
  }
}
