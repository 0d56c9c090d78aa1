// Installs what the tests need and this machine lacks, if it may: as root on Debian. Elsewhere it says what is missing,
// and the tests that need it are skipped. In CI anything missing is a failure.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { findTestTools, list, remedyOf } from './test-tools.mjs';

const POLICY = '/usr/sbin/policy-rc.d';
const APT_OPTIONS = ['-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];

/** @returns the names of missing programs; only of those that can be installed */
const missingPrograms = () => {
  const found = findTestTools();
  return Object.keys(found).filter((name) => found[name].missing !== undefined && list[name].commands !== undefined);
};

const isDebian = () => existsSync('/etc/os-release') && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));

/** @returns whether apt-get succeeded; its error output is shown */
function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/** The tests start what they need themselves: no package may start a service. */
function withoutServices(install) {
  const isOurs = !existsSync(POLICY);
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n');
  if (isOurs) chmodSync(POLICY, 0o755);
  try {
    install();
  } finally {
    if (isOurs) rmSync(POLICY);
  }
}

function install(names) {
  const packages = names.map((name) => list[name].debian).filter((name) => name !== undefined);
  process.stderr.write(`Installing what the tests need: ${packages.join(', ')}\n`);
  withoutServices(() => {
    apt('update', '-qq');
    // A package that this release does not have must not prevent the installation of the others.
    if (!apt('install', ...APT_OPTIONS, ...packages)) for (const one of packages) apt('install', ...APT_OPTIONS, one);
  });
}

/**
 * @returns the exit code. The parts are parameters so that each outcome can be tested on a machine that lacks nothing.
 */
export function provide({ missing, mayInstall, install: put, isCi, say }) {
  if (missing().length > 0 && mayInstall) put(missing());
  const still = missing();
  for (const name of still) say(`${name} is missing, for ${list[name].neededFor}: ${remedyOf(name)}`);
  if (still.length > 0 && !isCi) say('Tests that need what is missing are skipped, and counted at the end.');
  return still.length > 0 && isCi ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = provide({
    missing: missingPrograms,
    mayInstall: process.getuid?.() === 0 && isDebian(),
    install,
    isCi: process.env.CI === 'true',
    say: (line) => process.stderr.write(`${line}\n`),
  });
}
