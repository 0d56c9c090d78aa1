// What a tier of the tests may use. The file's suffix names its tier, and each suite is watched while it runs: one that
// uses more than its tier has fails, and says by which name it belongs elsewhere.
import childProcess from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const SYNCHRONOUS = ['spawnSync', 'execFileSync', 'execSync'];
const TIMERS = ['setTimeout', 'setInterval'];

const isOurs = (command) => command === process.execPath || /(^|\/)(node|npm|npx|session-broker)$/.test(command);

/** The first line of the stack that is neither this file nor a package. */
function placeOf({ stack }) {
  const line = stack.split('\n').find((one) => /^ +at /.test(one) && !/tier-rules\.mjs|node_modules|node:/.test(one));
  return line === undefined ? '' : ` (${line.trim().replace(/^at /, '')})`;
}

/** Watches one suite. */
export class TierWatch {
  #tier;
  #broken = new Set();
  #restore = [];

  /** @param tier `unit`, `adapters`, or a tier that may use everything */
  constructor(tier) {
    this.#tier = tier;
  }

  /** @param global of the suite, whose timers are watched in the unit tier */
  begin(global) {
    if (this.#tier === 'unit') this.#beginUnit(global);
    if (this.#tier === 'adapters') this.#onChannel('child_process', ({ process: child }) => this.#started(child));
  }

  /** @throws Error that names what the suite used and its tier does not have */
  end() {
    for (const restore of this.#restore.splice(0)) restore();
    if (this.#broken.size > 0)
      throw new Error(`The tier "${this.#tier}" does not have:\n${[...this.#broken].join('\n')}`);
  }

  #beginUnit(global) {
    const child = 'a process: call the file *.int-spec.ts or *.e2e-spec.ts';
    this.#onChannel('child_process', () => this.#note(child));
    const socket = 'a socket: call the file *.int-spec.ts';
    this.#onChannel('net.client.socket', () => this.#note(socket));
    this.#onChannel('tracing:net.server.listen:asyncStart', () => this.#note(socket));
    for (const name of SYNCHRONOUS) {
      this.#replace(childProcess, name, (own) => (...args) => {
        this.#note(child);
        return own(...args);
      });
    }
    for (const name of TIMERS) {
      this.#replace(global, name, (own) => (run, delay, ...args) => {
        if (!(delay > 0)) return own(run, delay, ...args);
        // A deadline that is set and taken back costs no time; one that a test waits for does.
        const place = new Error('set here');
        const late = () => {
          this.#note('real time: take FakeClock of libs/testing, or call the file *.int-spec.ts', place);
          run(...args);
        };
        return own(late, delay);
      });
    }
  }

  /** What was started is known once it has been spawned. */
  #started(child) {
    child.once('spawn', () => {
      const { spawnfile } = child;
      if (isOurs(spawnfile)) this.#note(`our own program as a process, ${spawnfile}: call the file *.e2e-spec.ts`);
    });
  }

  #note(what, place = new Error(what)) {
    this.#broken.add(what + placeOf(place));
  }

  #onChannel(name, listener) {
    subscribe(name, listener);
    this.#restore.push(() => unsubscribe(name, listener));
  }

  #replace(object, name, wrapped) {
    const own = object[name];
    object[name] = Object.assign(wrapped(own), own);
    this.#restore.push(() => (object[name] = own));
  }
}
