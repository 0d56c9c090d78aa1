import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, endedAfterEach } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

const run = promisify(execFile);
const fileOf = (name: string): string => fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

describeWith(['curl', 'python3'], 'the examples of the API', () => {
  let broker: RunningBroker;

  const started = endedAfterEach();
  beforeEach(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
  });

  it.each([
    ['curl', ['sh', fileOf('session.sh')]],
    ['TypeScript', [process.execPath, fileOf('session.ts')]],
    ['Python', ['python3', fileOf('session.py')]],
  ])(
    'do in %s what they say',
    async (_language, [program = '', ...args]) => {
      const env = { ...process.env, BROKER_URL: broker.url, BROKER_TOKEN: TOKENS.payments };
      const { stdout } = await run(program, args, { env, timeout: 30_000 });
      expect(stdout).toMatch(/^generation \d+ until 20\S+Z\nasked again: 304\n/);
      expect(stdout).toContain('\nrejected: newer is yes\n');
      expect(stdout).toMatch(/\nopened: a payment\n$/);
      const shop = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
      expect(shop).toMatchObject({ matching: 2 });
    },
    40_000,
  );
});
