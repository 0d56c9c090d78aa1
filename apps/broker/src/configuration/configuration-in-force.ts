import type { BrokerConfiguration } from '#libs/configuration';
import { LastReading } from './last-reading.js';

/** What was made for the configuration before, and that configuration. */
export interface Before<Made> {
  readonly configuration: BrokerConfiguration;
  readonly made: Made;
}

type Maker<Made> = (configuration: BrokerConfiguration, before?: Before<Made>) => Made;

/** Makes what belongs to the next configuration, and hands back how to put it in force. */
type Preparation = (next: BrokerConfiguration) => () => void;

/**
 * The configuration that the broker works by. No part of it may be kept across an await: another one may be in force by
 * then. What is worth keeping is derived, and made anew with each.
 */
export class ConfigurationInForce {
  /** What became of the files that would change it. */
  readonly lastReading = new LastReading();
  #current: BrokerConfiguration;
  readonly #preparations: Preparation[] = [];

  constructor(configuration: BrokerConfiguration) {
    this.#current = configuration;
  }

  get current(): BrokerConfiguration {
    return this.#current;
  }

  /**
   * Something made of the configuration, e.g. an index of it.
   * @param make may look at what it made before, and hand that back when it is still right
   * @param release told of what was made before, once it is no longer in force
   * @returns what was made for the configuration in force
   */
  derive<Made>(make: Maker<Made>, release?: (before: Made, after: Made) => void): () => Made {
    let made = make(this.#current);
    this.#preparations.push((next) => {
      const nextMade = make(next, { configuration: this.#current, made });
      return () => {
        const before = made;
        made = nextMade;
        release?.(before, nextMade);
      };
    });
    return () => made;
  }

  /** All or nothing: when something cannot be made of the configuration, what it throws is thrown and nothing changes. */
  replace(next: BrokerConfiguration): void {
    const commits = this.#preparations.map((prepare) => prepare(next));
    this.#current = next;
    for (const commit of commits) commit();
  }
}
