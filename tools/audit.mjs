// Asks the registry for known vulnerabilities in what production loads: `npm run audit`. Ends with 1 when there is one of
// high severity or more, and says so plainly when the registry did not answer, because then nothing was checked.
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], { encoding: 'utf8' });
const answer = JSON.parse(stdout);
const counts = answer.metadata?.vulnerabilities;

if (counts === undefined) {
  console.log(`NOT AUDITED: ${answer.message ?? answer.error?.summary ?? 'the registry gave no answer'}`);
} else {
  const { critical, high, moderate, low, info } = counts;
  console.log(`critical ${critical}, high ${high}, moderate ${moderate}, low ${low}, info ${info}`);
  for (const { name, severity, range } of Object.values(answer.vulnerabilities)) {
    console.log(`${severity}: ${name} ${range}`);
  }
  process.exitCode = critical + high > 0 ? 1 : 0;
}
