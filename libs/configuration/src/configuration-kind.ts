import type { Loose } from './check-settings.js';
import type { CrossFault, Fault, Warning } from './fault.js';
import type { Loaded, NamedFile } from './named-files.js';
import type { Rule } from './rule.js';

/** What is known besides the settings themselves. */
export interface Findings {
  /** Every file that is named anywhere in the configuration. */
  readonly files: readonly NamedFile[];
  /** Does not stop the start but should be fixed, e.g. a key file that others can read. */
  readonly warnings: readonly Warning[];
}

/** A kind of configuration file: its settings, the rules between them, and the options made from them. */
export interface ConfigurationKind<Settings extends object, Parsed, Configuration> {
  /** The whole file. */
  readonly settings: new () => Settings;
  /** Contradictions between settings that are each correct on their own. */
  readonly rule: Rule<Settings>;
  /** Contradictions between the contents of files, as far as they could be read. */
  readonly betweenFiles: (settings: Loaded<Loose<Settings>>, named: Loose<Settings>) => readonly Fault[];
  /** Problems that do not stop the start, in settings that are each correct on their own. */
  readonly warningsOf: (settings: Loose<Settings>) => readonly CrossFault[];
  /** Problems between the contents of files that do not stop the start. */
  readonly warningsBetweenFiles?: (settings: Loaded<Loose<Settings>>) => readonly Warning[];
  /** Turns settings without faults into options that still name files. */
  readonly toParsed: (settings: Settings) => Parsed;
  /** Turns settings without faults, with the contents of their files, into the options that the program works with. */
  readonly toConfiguration: (settings: Loaded<Settings>) => Configuration;
}
