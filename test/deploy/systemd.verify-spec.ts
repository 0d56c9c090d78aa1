import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describeWith, toolPath } from '#libs/testing';
import { readUnit, unitFile } from './systemd-unit.js';

/**
 * In tenths, out of 10, as `systemd-analyze security` counts: what remains is that the service calls others, and that
 * V8 compiles.
 */
const MAX_EXPOSURE = 15;
const units = ['session-broker', 'session-egress'];

/**
 * What the manifests set for a pod, and what a container gets from its engine: a service has to be told. The measure of
 * systemd below misses each of them if it is gone alone.
 */
const asInAContainer: Readonly<Record<string, string>> = {
  DynamicUser: 'yes',
  NoNewPrivileges: 'yes',
  ProtectSystem: 'strict',
  AmbientCapabilities: '',
  SystemCallArchitectures: 'native',
  SystemCallErrorNumber: 'EPERM',
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

describe.each(units)('the systemd unit %s', (name) => {
  const unit = readUnit(name);

  it('is told what a container has by itself', () => {
    const said = Object.keys(asInAContainer).map((setting) => [setting, unit[setting]?.[0]]);
    expect(Object.fromEntries(said)).toEqual(asInAContainer);
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
