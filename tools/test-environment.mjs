// Once the tests of a file are over, ends every process that the file has started and left running: a hook that fails
// half-way does not get to that. An `exit` handler in a test would not help, since jest gives tests a copy of
// `process`. Servers that a file leaves in the test process stay up during all files that follow, and keep it from
// exiting: they are reported.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import PlainGlobalEnvironment from './plain-global-environment.mjs';
import { TierWatch } from './tier-rules.mjs';

const CHANNEL = 'child_process';
const TURNS = 20;

// A worker that has run many files takes half a second or more to free its memory piece by piece; Jest waits half a
// second and then reports leaks. When nothing keeps the worker alive any longer, there is nothing in that memory to
// save.
if (process.send !== undefined) process.once('beforeExit', () => process.exit());

/** Those of this process, by the only resource name that means listening. */
const servers = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;

const isAlive = ({ pid, exitCode, signalCode }) => pid !== undefined && exitCode === null && signalCode === null;

/** Ends it, with its whole process group if it leads one. */
function end({ pid }) {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

export default class extends PlainGlobalEnvironment {
  #path;
  #watch;
  #serversBefore = 0;
  #children = new Set();
  #note = ({ process: child }) => {
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
  };
  #endAll = () => [...this.#children].filter(isAlive).forEach(end);

  constructor(config, context) {
    super(config, context);
    this.#path = context.testPath;
    this.#watch = new TierWatch(config.projectConfig.testEnvironmentOptions.tier);
  }

  async setup() {
    await super.setup();
    this.#serversBefore = servers();
    subscribe(CHANNEL, this.#note);
    process.once('exit', this.#endAll);
  }

  /** Jest has taken its own timers by then, and the suite has not been loaded. */
  handleTestEvent({ name }) {
    if (name === 'setup') this.#watch.begin(this.global);
  }

  async teardown() {
    unsubscribe(CHANNEL, this.#note);
    const left = [...this.#children].filter(isAlive);
    const ended = left.map((child) => once(child, 'exit'));
    this.#endAll();
    await Promise.all(ended);
    process.removeListener('exit', this.#endAll);
    for (const { spawnargs } of left) process.stderr.write(`${this.#path} left a process: ${spawnargs.join(' ')}\n`);
    const listening = await this.#serversLeft();
    if (listening > 0) process.stderr.write(`${this.#path} left servers that listen: ${listening}\n`);
    await super.teardown();
    this.#watch.end();
  }

  /** A server that has just been closed is still counted for a few turns. */
  async #serversLeft() {
    const left = () => servers() - this.#serversBefore;
    for (let turn = 0; turn < TURNS && left() > 0; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return left();
  }
}
