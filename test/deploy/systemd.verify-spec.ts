import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describeWith, toolPath } from '#libs/testing';
import { readUnit, unitFile } from './systemd-unit.js';

const root = join(import.meta.dirname, '..', '..');
/**
 * In tenths, out of 10, as `systemd-analyze security` counts: what remains is that the service calls others, and that
 * V8 compiles.
 */
const MAX_EXPOSURE = 15;
const units = ['session-broker', 'session-egress'];

interface PodDocument {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: object;
        readonly containers: readonly [{ readonly securityContext: object }];
      };
    };
  };
}

/** Every setting of a pod and its container that hardens it, with its equivalent in systemd. */
const sameInSystemd: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '"runAsNonRoot":true': { DynamicUser: 'yes' },
  '"runAsUser"': { DynamicUser: 'yes' },
  '"runAsGroup"': { DynamicUser: 'yes' },
  '"fsGroup"': { DynamicUser: 'yes' },
  '"seccompProfile":{"type":"RuntimeDefault"}': { SystemCallArchitectures: 'native', SystemCallErrorNumber: 'EPERM' },
  '"allowPrivilegeEscalation":false': { NoNewPrivileges: 'yes' },
  '"readOnlyRootFilesystem":true': { ProtectSystem: 'strict' },
  '"capabilities":{"drop":["ALL"]}': { CapabilityBoundingSet: '', AmbientCapabilities: '' },
};

/** What a container gets from its engine, and a service has to be told. */
const asInAContainer: Readonly<Record<string, string>> = {
  PrivateTmp: 'yes',
  PrivateDevices: 'yes',
  PrivateUsers: 'yes',
  PrivateIPC: 'yes',
  ProtectHome: 'yes',
  ProtectProc: 'invisible',
  ProtectControlGroups: 'yes',
  ProtectKernelModules: 'yes',
  ProtectKernelTunables: 'yes',
  RestrictNamespaces: 'yes',
  UMask: '0077',
  LimitCORE: '0',
  MemorySwapMax: '0',
};

function hardeningOf(name: string): string[] {
  const text = readFileSync(join(root, 'deploy/kubernetes/production-mtls/manifests.yaml'), 'utf8');
  const deployment = parseAllDocuments(text)
    .map((document) => document.toJS() as PodDocument)
    .find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
  if (deployment === undefined) throw new Error(`there is no Deployment ${name}`);
  const { spec } = deployment.spec.template;
  const of = (context: object): string[] =>
    Object.entries(context).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return [...of(spec.securityContext), ...of(spec.containers[0].securityContext)];
}

describe.each(units)('the systemd unit %s', (name) => {
  const unit = readUnit(name);
  const saidIn = (settings: Readonly<Record<string, string>>): Record<string, string | undefined> =>
    Object.fromEntries(Object.keys(settings).map((setting) => [setting, unit[setting]?.[0]]));

  it('has every hardening that the manifests have', () => {
    const hardening = hardeningOf(name);
    expect(hardening.length).toBeGreaterThan(6);
    for (const setting of hardening) {
      const same = sameInSystemd[setting] ?? sameInSystemd[setting.replace(/:\d+$/, '')];
      expect([setting, same]).toEqual([setting, expect.anything()]);
      expect(saidIn(same ?? {})).toEqual(same);
    }
  });

  it('has what a container has by itself', () => {
    expect(saidIn(asInAContainer)).toEqual(asInAContainer);
  });

  it('lets V8 make memory that is executed, which it cannot do without', () => {
    expect(unit['MemoryDenyWriteExecute']).toBeUndefined();
  });

  it('reads a secret from no file that others on the machine could read, and from no environment', () => {
    expect(unit['LoadCredential']?.length).toBeGreaterThan(0);
    expect(unit['EnvironmentFile']).toBeUndefined();
    const environment = (unit['Environment'] ?? []).join(' ');
    expect(environment).not.toMatch(/TOKEN|PASSWORD|SECRET|KEY/);
  });

  it('passes on the signal that a program takes for reading its configuration', () => {
    expect(unit['ExecReload']).toEqual(['/bin/kill -HUP $MAINPID']);
  });

  describeWith('systemd', 'by systemd itself', () => {
    it('is understood by systemd, without a remark', () => {
      const folder = mkdtempSync(join(tmpdir(), 'session-broker-unit-'));
      try {
        const text = readFileSync(unitFile(name), 'utf8');
        const copy = join(folder, basename(unitFile(name)));
        // The Node.js of the test stands in for the installed one: systemd checks that it exists.
        writeFileSync(copy, text.replace('/usr/bin/node', process.execPath));
        const { status, stderr } = spawnSync(toolPath('systemd', 'systemd-analyze'), ['verify', '--man=no', copy], {
          encoding: 'utf8',
        });
        expect([status, stderr.split('\n').filter((line) => line.includes(name))]).toEqual([0, []]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it('is exposed as little as a program can be that calls others', () => {
      const args = ['security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, unitFile(name)];
      const said = execFileSync(toolPath('systemd', 'systemd-analyze'), args, {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      });
      expect(said).toMatch(/Overall exposure level for session-\w+\.service: \d\.\d OK/);
    });
  });
});
