import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigurationError, parseConfiguration, parseEgressConfiguration } from '#libs/configuration';
import { brokerSettings } from '../../../libs/configuration/src/settings/broker-settings.js';
import { egressDocument } from '../../../libs/configuration/src/settings/egress-settings.js';
import { nearlySettings, piecesOfYaml, validConfiguration } from '../configuration-arbitraries.js';
import { anyOf, damaged } from '../damaged.js';
import { demand, pureTarget } from '../fuzz-target.js';

const EXAMPLES = join(process.cwd(), 'docs', 'examples');
/** Only in the environment, and in no file. */
const SECRET = 'Zk7canaryQ';
const MAX_FAULTS = 200;
const MAX_MESSAGE = 131_072;
/** Processor time of this process, for one input, whatever else the machine does. Far above what any input takes. */
const MAX_CPU_MS = 2_000;

const leaf = anyOf(
  ...['20%', '5s', '${SECRET}', 'x-${SECRET}', '${NONE:-a}', 'https://a', 'http://127.0.0.1:1', 'production', 'test'],
  ...['a', true, 8_080, 0, -1, 1e21, '0.0.0.0', '::1', '/ecom/**', 'session:read', '*', 'ab'.repeat(32)],
);
const egressExample = readFileSync(join(EXAMPLES, 'egress.yaml'), 'utf8');
const text = fc.oneof(
  piecesOfYaml,
  fc
    .oneof(nearlySettings(brokerSettings, leaf), nearlySettings(egressDocument, leaf))
    .chain((raw) => fc.boolean().map((asYaml) => (asYaml ? stringify(raw) : JSON.stringify(raw)))),
  validConfiguration.map((raw) => stringify(raw)),
  fc.constant(egressExample),
);

function checkRefusal(error: unknown): void {
  if (!(error instanceof ConfigurationError)) throw error;
  demand(error.faults.length > 0 && error.faults.length <= MAX_FAULTS, 'a refusal has faults, and not endlessly many');
  demand(error.message.length <= MAX_MESSAGE, 'a refusal is of bounded size');
  demand(!error.message.includes(SECRET), 'a refusal quotes nothing of the environment');
}

/** A file that someone wrote, or that a tool has cut or joined. */
export const configurations = pureTarget({ name: 'configuration', runsPerRound: 600 }, () =>
  fc.property(fc.record({ octets: damaged(text), isEgress: fc.boolean() }), ({ octets, isEgress }) => {
    const parse = isEgress ? parseEgressConfiguration : parseConfiguration;
    const before = process.cpuUsage();
    try {
      parse(octets.toString('utf8'), { SECRET });
    } catch (error) {
      checkRefusal(error);
    }
    const { user, system } = process.cpuUsage(before);
    demand(user + system <= MAX_CPU_MS * 1_000, 'a configuration is read in bounded time');
  }),
);
