import { text, wholeNumber } from '../setting.js';
import { fileName } from '../value-rule.js';

/** Who read what when. */
export class AuditSettings {
  @text('Where audit records go: `stdout`, `none`, or a file that is appended to. See [audit.md](audit.md).', fileName)
  readonly destination: string = 'stdout';

  @wholeNumber(
    'Of the reads of one session by one caller, the first and every so many-th has a record.',
    1,
    1_000_000_000,
  )
  readonly readEvery: number = 1_000;
}
