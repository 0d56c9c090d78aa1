import type { Loose } from './check-settings.js';
import type { CrossFault, Fault, Warning } from './fault.js';
import type { Loaded, NamedFile } from './named-files.js';
import type { Rule } from './rule.js';

/** What is known besides the settings themselves. */
export interface Findings {
  /** Every file that is named anywhere in the configuration. */
  readonly files: readonly NamedFile[];
  /** What does not stop the start but should be mended, e.g. a key file that others can read. */
  readonly warnings: readonly Warning[];
}

/** A kind of configuration file: which settings it has, what they say against each other, what is made of them. */
export interface ConfigurationKind<Settings extends object, Parsed, Configuration> {
  /** The whole file. */
  readonly settings: new () => Settings;
  /** What settings that are right by themselves say against each other. */
  readonly rule: Rule<Settings>;
  /** Where the contents of files contradict each other, as far as they could be read. */
  readonly betweenFiles: (settings: Loaded<Loose<Settings>>, named: Loose<Settings>) => readonly Fault[];
  /** What does not stop the start, of settings that are right by themselves. */
  readonly warningsOf: (settings: Loose<Settings>) => readonly CrossFault[];
  /** What the contents of files say against each other without stopping the start. */
  readonly warningsBetweenFiles?: (settings: Loaded<Loose<Settings>>) => readonly Warning[];
  /** From settings without faults to options that name files. */
  readonly toParsed: (settings: Settings) => Parsed;
  /** From settings without faults, with what their files hold, to the options that the program works by. */
  readonly toConfiguration: (settings: Loaded<Settings>) => Configuration;
}
