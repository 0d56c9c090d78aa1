import { fail } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { sealCompact } from '../../../apps/sandbox/src/crypto/compact-jwe.js';
import { readPublicKey } from '../../../apps/sandbox/src/crypto/ec-key.js';
import { runCli } from '../../e2e/cli-process.js';
import { EgressProcess } from '../../egress/egress-process.js';
import { type Replica, servedBy, TOKEN, WatchedReplicas } from '../../observability/watched-replicas.js';
import { RoundRobin } from '../../replicas/round-robin.js';
import type { Ledgered } from '../../sandbox/payment-desk.js';
import { kubernetesPrograms, run as helm } from '../kubernetes/kubernetes-programs.js';
import { type Manifest, parsed } from '../kubernetes/manifests.js';
import { buildLastRelease, type Release, root } from './last-release.js';
import { SteadyPayments } from './steady-payments.js';

const RUN_WITHIN_MS = 600_000;
const HOUR_MS = 3_600_000;
/** Due after half of it. */
const SHORT_LIFE_MS = 60_000;
/** How long the bank takes for a payment: some are under way whenever a program is replaced. */
const PAYMENT_MS = 150;
/** No call is given up. */
const TIMEOUT = '60s';
const SHOP = {
  id: 'shop',
  lifetimeMs: HOUR_MS,
  timeout: TIMEOUT,
  session: { renewBefore: '50%' },
  required: true,
  supersedes: true,
};
const INSTALLATIONS = [
  ['production', ['broker']],
  ['production-mtls', ['broker', 'egress']],
] as const;
const builtIn = (folder: string): URL => pathToFileURL(join(folder, 'dist/'));

describeWith(['linux', 'git', 'redis-server', kubernetesPrograms], 'an upgrade from the last release', () => {
  let folder: string;
  let release: Release;

  const started = endedAfterAll();
  beforeAll(async () => {
    folder = started.add(await mkdtemp(join(tmpdir(), 'session-broker-upgrade-')), (it) => rm(it, { recursive: true }));
    release = await buildLastRelease(folder);
  }, RUN_WITHIN_MS);

  it('is one from the commit that had its version', () => {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
    expect(version).toBe(release.version);
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
    expect(changelog.includes(`\n## ${version} - `)).toBe(true);
  });

  describe('under payments', () => {
    let watched: WatchedReplicas;
    let brokers: Replica[];
    let inFrontOfBrokers: RoundRobin;
    let egress: EgressProcess;
    let inFrontOfEgress: RoundRobin;
    let payments: SteadyPayments;
    /** Create calls that were to be made, and the session of the last one. */
    let planned = 1;
    let generation: unknown;

    const ledger = async (): Promise<Ledgered> => (await watched.control('GET', '/ledger?limit=100000')) as Ledgered;
    /** Waits until everybody goes on with the session of the next create call, and finds no other one. */
    const untilRenewed = async (): Promise<void> => {
      let seen: readonly unknown[] = [];
      await eventually(async () => {
        const served = await Promise.all(brokers.map((broker) => servedBy(broker, 'shop')));
        const held = /^session_egress_session_generation\{merchant="shop"\} (\d+)$/m.exec(await egress.metrics());
        seen = [...served, Number(held?.[1])];
        return seen[0] !== generation && new Set(seen).size === 1;
      }).catch(() => expect(seen).toEqual(['a newer one, by both brokers and the egress']));
      generation = seen[0];
      planned += 1;
      expect(await watched.createCalls()).toBe(planned);
    };
    const renew = async (): Promise<void> => {
      await eventually(async () => (await watched.renew(brokers[0] ?? fail(), 'shop')) === 'renewed');
      await untilRenewed();
    };
    /** What is under way at a program may end there; what has not got that far would meet a closed port. */
    const arrived = async (): Promise<void> => {
      const begun = payments.begun;
      await eventually(async () => {
        const known = new Set((await ledger()).payments.map((payment) => payment['merchantRequestId']));
        return begun.every((id) => known.has(id));
      });
    };
    const replaceBroker = async (index: 0 | 1, built: URL): Promise<void> => {
      const old = brokers[index] ?? fail();
      const successor = await watched.add({ built });
      expect(await servedBy(successor, 'shop')).toBe(generation);
      brokers[index] = successor;
      inFrontOfBrokers.replace(old.url, successor.url);
      old.process.signal('SIGTERM');
      expect(await old.process.ended).toBe(0);
      expect(await watched.createCalls()).toBe(planned);
    };
    const replaceEgress = async (built: URL): Promise<void> => {
      const old = egress;
      egress = await old.successor(built);
      inFrontOfEgress.replace(old.url, egress.url);
      await arrived();
      expect(await old.stop()).toBe(0);
    };

    beforeAll(async () => {
      const built = builtIn(folder);
      watched = started.add(await WatchedReplicas.start([SHOP], [], 0), (it) => it.stop());
      for (const operation of ['create-order', 'create-purchase'])
        await watched.control('POST', '/faults', { kind: 'latency', operation, delayMs: PAYMENT_MS });
      brokers = [await watched.add({ built }), await watched.add({ built })];
      inFrontOfBrokers = started.add(await RoundRobin.start(brokers.map(({ url }) => url)), (it) => it.close());
      const broker = { url: inFrontOfBrokers.url, token: TOKEN };
      egress = await EgressProcess.start({ broker, gatewayUrl: watched.sandboxUrl, timeout: TIMEOUT, built });
      started.add(
        () => egress.stop(),
        (stop) => stop(),
      );
      inFrontOfEgress = started.add(await RoundRobin.start([egress.url]), (it) => it.close());
      const { jwk } = (await (await fetch(`${watched.sandboxUrl}/_sandbox/payment-key`)).json()) as { jwk: unknown };
      const card = sealCompact('4111111111111111', readPublicKey(jwk));
      generation = await servedBy(brokers[0] ?? fail(), 'shop');
      payments = started.add(new SteadyPayments(egress.callers(inFrontOfEgress.url), card), (it) => it.end());
    });

    it(
      'goes broker by broker, then the egress, and back: nothing is refused, lost or doubled, and each create call was planned',
      async () => {
        const [before, after] = [builtIn(folder), builtIn(root)];
        await renew();
        await replaceBroker(0, after);
        await watched.setLifetime('shop', SHORT_LIFE_MS);
        await renew();
        await watched.setLifetime('shop', HOUR_MS);
        // By the schedule, with a hand-over among both versions.
        await untilRenewed();
        await replaceBroker(1, after);
        await renew();
        await replaceEgress(after);
        await renew();
        // The brokers go back first: the new egress has old ones then, as where it is upgraded before them.
        await replaceBroker(0, before);
        await replaceBroker(1, before);
        await renew();
        await replaceEgress(before);
        await renew();
        expect(await payments.end()).toEqual([]);
        const { begun } = payments;
        const { totals } = await ledger();
        expect(totals).toMatchObject({ payments: begun.length, accepted: begun.length, refused: 0, doubled: 0 });
        expect(totals['unanswered']).toBe(0);
        expect(await watched.createCalls()).toBe(planned);
      },
      RUN_WITHIN_MS,
    );
  });

  describe.each(INSTALLATIONS)('of deploy/kubernetes/%s', (installation, programs) => {
    const at = (file: string): string => join(folder, 'deploy/kubernetes', installation, file);

    it('keeps its configuration, which the new version finds right', async () => {
      for (const program of programs) {
        const { code, err } = await runCli('config', 'check', '--structure', at(`${program}.yaml`));
        expect([program, code, code === 0 ? '' : err]).toEqual([program, 0, '']);
      }
    });

    it('keeps its values, with which the new chart makes what Helm can put in the place of what there is', () => {
      const texts = programs.flatMap((program) => ['--set-file', `${program}.configuration=${at(`${program}.yaml`)}`]);
      const fixed = (checkout: string): readonly object[] => {
        const chart = ['session-broker', join(checkout, 'deploy/helm/session-broker'), '--is-upgrade'];
        return parsed(helm('helm', ['template', ...chart, '--values', at('values.yaml'), ...texts])).flatMap(fixedOf);
      };
      const before = fixed(folder);
      expect(before).toContainEqual(expect.objectContaining({ kind: 'Deployment', name: 'session-broker' }));
      expect(fixed(root)).toEqual(expect.arrayContaining([...before]));
    });
  });
});

/** What an upgrade must find again: Kubernetes refuses another selector, and pods and clients know the others by name. */
function fixedOf({ kind, metadata: { name }, spec }: Manifest): readonly object[] {
  if (!['Deployment', 'Service', 'ServiceAccount', 'ConfigMap'].includes(kind)) return [];
  return [{ kind, name, selector: kind === 'Deployment' || kind === 'Service' ? spec.selector : undefined }];
}
