import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describeWith, endedAfterAll, eventually, freePort, LoopbackServer, toolPath } from '#libs/testing';
import { RULES, runbooks } from '../deploy/monitoring.js';
import { ALERTMANAGER, AlertmanagerProcess } from './alertmanager-process.js';
import { hastened, PrometheusProcess } from './prometheus-process.js';

interface Message {
  readonly path: string;
  readonly body: string;
}

describeWith(['prometheus', 'alertmanager'], 'an alert of a real Prometheus, passed on by a real Alertmanager', () => {
  const messages: Message[] = [];
  let receiver: LoopbackServer;
  let alertmanager: AlertmanagerProcess;

  const started = endedAfterAll();
  beforeAll(async () => {
    receiver = started.add(
      await LoopbackServer.http((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          messages.push({ path: request.url ?? '', body });
          response.end('ok');
        });
      }),
      (it) => it.close(),
    );
    alertmanager = started.add(await AlertmanagerProcess.start(`http://127.0.0.1:${receiver.port}`), (it) => it.stop());
    started.add(
      await PrometheusProcess.start({
        targets: [`127.0.0.1:${await freePort()}`],
        rules: hastened(readFileSync(RULES, 'utf8')),
        alertmanager: alertmanager.address,
      }),
      (it) => it.stop(),
    );
  });

  const message = async (path: string, text = 'replica-down'): Promise<string> => {
    const found = (): Message | undefined => messages.find((sent) => sent.path === path && sent.body.includes(text));
    await eventually(() => found() !== undefined);
    return found()?.body ?? '';
  };

  it('arrives with what it says and where to read on', async () => {
    const { alerts } = JSON.parse(await message('/hook')) as {
      alerts: { labels: Record<string, string>; annotations: Record<string, string> }[];
    };
    expect(alerts[0]?.labels).toMatchObject({ alertname: 'SessionBrokerReplicaDown', severity: 'warning' });
    const runbook = alerts[0]?.annotations['runbook_url'] ?? '';
    expect(runbook).toBe('docs/runbooks/replica-down.md');
    expect(runbooks.has(runbook)).toBe(true);
  });

  it('has links that can be followed in the message of the example', async () => {
    const chat = await message('/working-hours');
    expect(chat).toContain('https://pages.example/docs/runbooks/replica-down.md');
    expect(chat).toContain('https://grafana.example/d/session-broker');
    expect(chat).toContain('is not scraped');
  });

  it('is said to those whom its severity calls, each of a group in the title, and not if it follows from another', async () => {
    const of = (alertname: string, severity: string, name: string): object => ({
      labels: { alertname: `SessionBroker${alertname}`, severity, cluster: 'north', instance: name },
      annotations: { summary: `${alertname} ${name}` },
    });
    const url = `http://${alertmanager.address}/api/v2/alerts`;
    const body = JSON.stringify([
      of('StoreDown', 'critical', 'one'),
      of('StoreDown', 'critical', 'two'),
      of('RenewalsFailing', 'warning', 'shop'),
      of('NoSession', 'critical', 'shop'),
    ]);
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await message('/on-call', 'firing: StoreDown one; StoreDown two');
    await message('/on-call', 'firing: NoSession shop');
    const inhibited = (await (await fetch(`${url}?active=false&inhibited=true`)).json()) as {
      labels: { alertname: string };
    }[];
    expect(inhibited.map(({ labels }) => labels.alertname)).toEqual(['SessionBrokerRenewalsFailing']);
  });

  it('goes by an example that Alertmanager takes', () => {
    expect(
      execFileSync(toolPath('alertmanager', 'amtool'), ['check-config', ALERTMANAGER], { encoding: 'utf8' }),
    ).toContain('SUCCESS');
  });
});
