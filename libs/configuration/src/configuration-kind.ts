import type { Loose } from './check-settings.js';
import type { Warning } from './fault.js';
import type { Loaded, NamedFile } from './named-files.js';
import type { Rule } from './rule.js';
import type { Fields } from './setting.js';

/** What is known besides the settings themselves. */
export interface Findings {
  /** Every file that is named anywhere in the configuration. */
  readonly files: readonly NamedFile[];
  /** Does not stop the start but should be fixed, e.g. a key file that others can read. */
  readonly warnings: readonly Warning[];
}

/** A kind of configuration file: its settings, the rules between them, and the options made from them. */
export interface ConfigurationKind<Settings, Configuration> {
  /** The whole file. */
  readonly fields: Fields;
  /** Contradictions between settings. */
  readonly rules: readonly Rule<Settings>[];
  /** The PKCS#11 modules that key files may name. */
  readonly modules: (settings: Loose<Settings>) => readonly (string | undefined)[];
  /** Contradictions between the contents of files, as far as they could be read. */
  readonly fileFaults: (settings: Loaded<Loose<Settings>>, named: Loose<Settings>) => Iterable<string>;
  /** Problems that do not stop the start, in settings that are each correct on their own … */
  readonly warnings: readonly Rule<Settings>[];
  /** … and in the contents of files. */
  readonly fileWarnings: (settings: Loaded<Loose<Settings>>) => Iterable<string>;
  /** Turns settings without faults, with the contents of their files, into the options that the program works with. */
  readonly toConfiguration: (settings: Loaded<Settings>) => Configuration;
}
