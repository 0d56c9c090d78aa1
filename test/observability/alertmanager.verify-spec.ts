import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeWith, endedAfterAll, eventually, freePort, LoopbackServer, toolPath } from '#libs/testing';
import { alerts } from '../deploy/monitoring.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus', 'alertmanager.yml');

interface Configuration {
  readonly route: object;
  readonly receivers: readonly { readonly name: string; readonly slack_configs: readonly [object] }[];
}

/** A real Alertmanager with the example's configuration, whose messages arrive here by the name of the receiver. */
describeWith('alertmanager', 'the example of passing alerts on', () => {
  const messages: { readonly path: string; readonly body: string }[] = [];
  let url: string;

  const started = endedAfterAll();
  beforeAll(async () => {
    const receiver = await LoopbackServer.http((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        messages.push({ path: request.url ?? '', body });
        response.end('ok');
      });
    });
    started.add(receiver, (it) => it.close());
    const folder = started.add(await mkdtemp(join(tmpdir(), 'alertmanager-')), (it) => rm(it, { recursive: true }));
    const example = parse(await readFile(EXAMPLE, 'utf8'), { merge: true }) as Configuration;
    const receivers = example.receivers.map(({ name, slack_configs: [chat] }) => ({
      name,
      slack_configs: [{ ...chat, api_url: `http://127.0.0.1:${receiver.port}/${name}` }],
    }));
    const route = { ...example.route, group_wait: '0s', group_interval: '1s' };
    const file = join(folder, 'alertmanager.yml');
    await writeFile(file, JSON.stringify({ ...example, route, receivers }));
    const address = `127.0.0.1:${await freePort()}`;
    const places = [`--config.file=${file}`, `--storage.path=${join(folder, 'data')}`];
    const args = [...places, `--web.listen-address=${address}`, '--cluster.listen-address=', '--log.level=error'];
    const child = spawn(toolPath('alertmanager', 'prometheus-alertmanager'), args, { stdio: 'ignore' });
    started.add(child, async (it) => {
      const ended = once(it, 'exit');
      it.kill('SIGTERM');
      await ended;
    });
    url = `http://${address}/api/v2/alerts`;
    await eventually(() =>
      fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  });

  const sends = async (...sent: readonly object[]): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(url, { method: 'POST', headers, body: JSON.stringify(sent) })).status).toBe(200);
  };
  const message = async (path: string, text: string): Promise<string> => {
    const found = (): string | undefined =>
      messages.find((sent) => sent.path === path && sent.body.includes(text))?.body;
    await eventually(() => found() !== undefined);
    return found() ?? '';
  };

  it('has links that can be followed', async () => {
    const { alert, labels = {}, annotations } = alerts.find((rule) => rule.alert === 'SessionBrokerReplicaDown')!;
    await sends({ labels: { alertname: alert, ...labels, cluster: 'north', instance: 'one' }, annotations });
    const chat = await message('/working-hours', 'replica-down');
    expect(chat).toContain('https://pages.example/docs/runbooks/replica-down.md');
    expect(chat).toContain('https://grafana.example/d/session-broker');
  });

  it('says an alert to those whom its severity calls, each of a group in the title, and not if it follows from another', async () => {
    const of = (alertname: string, severity: string, name: string): object => ({
      labels: { alertname: `SessionBroker${alertname}`, severity, cluster: 'north', instance: name },
      annotations: { summary: `${alertname} ${name}` },
    });
    await sends(
      of('StoreDown', 'critical', 'one'),
      of('StoreDown', 'critical', 'two'),
      of('RenewalsFailing', 'warning', 'shop'),
      of('NoSession', 'critical', 'shop'),
    );
    await message('/on-call', 'firing: StoreDown one; StoreDown two');
    await message('/on-call', 'firing: NoSession shop');
    const inhibited = (await (await fetch(`${url}?active=false&inhibited=true`)).json()) as {
      labels: { alertname: string };
    }[];
    expect(inhibited.map(({ labels }) => labels.alertname)).toEqual(['SessionBrokerRenewalsFailing']);
  });

  it('is an example that Alertmanager takes', () => {
    const amtool = toolPath('alertmanager', 'amtool');
    expect(execFileSync(amtool, ['check-config', EXAMPLE], { encoding: 'utf8' })).toContain('SUCCESS');
  });
});
