// Installs what the tests of a tier need and this machine lacks, if it may: as root on Debian. Elsewhere it says what is
// missing, and the tests that need it are skipped. In CI a missing program is a failure.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { findTestTools, list, namesOf, remedyOf } from './test-tools.mjs';

const POLICY = '/usr/sbin/policy-rc.d';
const APT_OPTIONS = ['-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];

const COMMANDS = { gate: 'npm test', verify: 'npm run verify' };

/** @returns of each thing that is missing, in a sentence, how to get it; by its name */
function missingOf(names) {
  const found = findTestTools();
  const missing = names.filter((name) => found[name].missing !== undefined);
  return Object.fromEntries(missing.map((name) => [name, remedyOf(name) ?? found[name].missing]));
}

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
export function provide({ tier, names, missing, mayInstall, install: put, isCi, say }) {
  const isProgram = (name) => list[name].commands !== undefined;
  const absent = Object.keys(missing()).filter(isProgram);
  if (absent.length > 0 && mayInstall) put(absent);
  const still = missing();
  const lacking = Object.keys(still);
  const end = lacking.length === 0 ? ' (all here)' : `; missing: ${lacking.join(', ')}`;
  say(`Beside the checkout, ${COMMANDS[tier]} needs: ${names.join(', ')}${end}`);
  for (const name of lacking) say(`${name} is missing, for ${list[name].neededFor}: ${still[name]}`);
  if (lacking.length > 0 && !isCi) say('Tests that need what is missing are skipped, and counted at the end.');
  return lacking.some(isProgram) && isCi ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const tier = process.argv[2] ?? 'verify';
  if (COMMANDS[tier] === undefined) throw new Error(`say for which tier: ${Object.keys(COMMANDS).join(' or ')}`);
  const names = namesOf(tier);
  process.exitCode = provide({
    tier,
    names,
    missing: () => missingOf(names),
    mayInstall: process.getuid?.() === 0 && isDebian(),
    install,
    isCi: process.env.CI === 'true',
    say: (line) => process.stderr.write(`${line}\n`),
  });
}
