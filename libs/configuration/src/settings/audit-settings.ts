import { text, wholeNumber } from '../setting.js';
import { fileName } from '../value-rule.js';

/** Who read what when. */
export class AuditSettings {
  /** `stdout`, `none`, or the path of a file that is appended to. */
  @text(fileName) readonly destination: string = 'stdout';
  @wholeNumber(1, 1_000_000_000) readonly readEvery: number = 1_000;
}
