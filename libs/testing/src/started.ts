/** What a test has started. All of it is ended, in reverse order, even if the next one failed to start. */
export class Started {
  readonly #ends: (() => unknown)[] = [];

  /** Records how something that has started is ended. @returns what has started */
  add<Thing>(thing: Thing, end: (thing: Thing) => unknown): Thing {
    this.#ends.push(() => end(thing));
    return thing;
  }

  /**
   * Ends everything, and continues if something fails to end.
   * @throws AggregateError of the failures
   */
  async end(): Promise<void> {
    const failures: unknown[] = [];
    for (const end of this.#ends.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `did not end: ${failures.map(String).join('; ')}`);
  }
}

/** For what is started before all tests of a `describe` or a file. @param limitMs how long ending may take */
export function endedAfterAll(limitMs?: number): Started {
  const started = new Started();
  afterAll(() => started.end(), limitMs);
  return started;
}

/** For what each test starts, or a hook before it. @param limitMs how long ending may take */
export function endedAfterEach(limitMs?: number): Started {
  const started = new Started();
  afterEach(() => started.end(), limitMs);
  return started;
}

/**
 * Starts something that has several parts: if one of them fails to start, those that have started are ended before the
 * error is thrown.
 */
export async function startedWhole<Thing>(
  thing: Thing,
  { start, end }: { readonly start: (thing: Thing) => Promise<unknown>; readonly end: (thing: Thing) => unknown },
): Promise<Thing> {
  try {
    await start(thing);
    return thing;
  } catch (error) {
    await end(thing);
    throw error;
  }
}
