// Asks the registry for known vulnerabilities in production dependencies, and whether it has signed the installed
// packages: `npm run audit`. Exits with 1 on a vulnerability of high severity or more, or on an invalid signature. If
// the registry did not answer, it says so plainly, because then nothing was checked. With --must-answer, which a
// release uses, that exits with 1 as well: a mirror without audits is good enough for daily work, but not for a
// release.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({ options: { 'must-answer': { type: 'boolean' } } });

const MAX_OUTPUT = 64 * 1024 * 1024;
// npm keeps retrying for the keys that signatures are verified with.
const MAX_WAIT_MS = 60_000;

function answerOf(...args) {
  const { stdout } = spawnSync('npm', ['audit', ...args, '--json'], {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT,
    timeout: MAX_WAIT_MS,
  });
  return stdout === '' ? {} : JSON.parse(stdout);
}

const noAnswer = ({ message, error }) => message ?? error?.summary ?? 'the registry gave no answer';

function toldUnanswered(what, answer) {
  console.log(`${what}: ${noAnswer(answer)}`);
  if (options['must-answer'] === true) process.exitCode = 1;
}

function auditVulnerabilities() {
  const answer = answerOf('--omit=dev', '--audit-level=high');
  const counts = answer.metadata?.vulnerabilities;
  if (counts === undefined) {
    toldUnanswered('NOT AUDITED', answer);
    return;
  }
  const { critical, high, moderate, low, info } = counts;
  console.log(`critical ${critical}, high ${high}, moderate ${moderate}, low ${low}, info ${info}`);
  for (const { name, severity, range } of Object.values(answer.vulnerabilities)) {
    console.log(`${severity}: ${name} ${range}`);
  }
  if (critical + high > 0) process.exitCode = 1;
}

function auditSignatures() {
  const answer = answerOf('signatures');
  if (answer.invalid === undefined) {
    toldUnanswered('SIGNATURES NOT CHECKED', answer);
    return;
  }
  console.log(`signatures: ${answer.invalid.length} wrong, ${answer.missing.length} missing`);
  for (const { name, version } of answer.invalid) console.log(`wrong signature: ${name} ${version}`);
  for (const { name, version } of answer.missing) console.log(`no signature: ${name} ${version}`);
  if (answer.invalid.length > 0) process.exitCode = 1;
}

auditVulnerabilities();
auditSignatures();
