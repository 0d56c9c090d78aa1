// Finds what the tests need besides Node.js and the lock file, which tools/test-tools.json lists. Runs before `npm ci`,
// on whatever Node.js the machine has.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);

export const list = JSON.parse(readFileSync(join(here, 'test-tools.json'), 'utf8'));

/** Debian installs servers there, and these are not on the path of non-root users. */
const SERVERS = ['/usr/sbin', '/sbin'];

const isProgram = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/** @returns the absolute path of a command, or undefined when there is none */
function located(command, path) {
  if (isAbsolute(command)) return isProgram(command) ? command : undefined;
  const folders = [...(path ?? '').split(delimiter).filter((folder) => folder !== ''), ...SERVERS];
  return folders.map((folder) => join(folder, command)).find(isProgram);
}

/**
 * Where the program itself is, as it reports: a version manager puts a script in its place, which looks the program up
 * anew at every start and is slower.
 */
function itself(tool, file) {
  if (tool.itself === undefined || file === undefined) return file;
  const { status, stdout } = spawnSync(file, tool.itself, { encoding: 'utf8' });
  const said = stdout?.trim() ?? '';
  return status === 0 && isAbsolute(said) && isProgram(said) ? said : file;
}

function program(tool, env) {
  const [first, ...others] = tool.commands;
  const named = env[tool.variable] ?? first;
  const paths = Object.fromEntries(tool.commands.map((command) => [command, located(command, env.PATH)]));
  paths[first] = itself(tool, located(named, env.PATH));
  const absent = [named, ...others].filter((command) => (paths[command] ?? located(command, env.PATH)) === undefined);
  if (absent.length > 0) return { missing: `${absent.join(' and ')} cannot be found` };
  return { paths };
}

function examined(tool, { env, platform }) {
  if (tool.platform !== undefined) return platform === tool.platform ? {} : { missing: `this is ${platform}` };
  if (tool.folder === undefined) return program(tool, env);
  const folder = join(root, tool.folder);
  return existsSync(folder) ? {} : { missing: `there is no ${tool.folder} beside the checkout` };
}

/** @returns for each name in the list the locations of its commands, as `paths`, or what is `missing` */
export function findTestTools({ env, platform } = process) {
  return Object.fromEntries(Object.entries(list).map(([name, tool]) => [name, examined(tool, { env, platform })]));
}

/** @returns what the tests of a tier need: `gate` is `npm test`, and `verify`, which runs more of them, needs everything */
export function namesOf(tier) {
  return Object.keys(list).filter((name) => tier === 'verify' || list[name].tier === tier);
}

/** @returns how to get it, or undefined if it is not something to install */
export function remedyOf(name, platform = process.platform) {
  const { debian, macos } = list[name];
  return platform === 'darwin' || debian === undefined ? macos : `on Debian: apt-get install ${debian}`;
}
