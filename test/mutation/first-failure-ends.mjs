import TestEnvironment from '../../tools/test-environment.mjs';

/** One test is enough to notice a mutant: after it, the rest of the file is skipped. */
export default class FirstFailureEnds extends TestEnvironment {
  #failed = false;

  handleTestEvent(event) {
    // A failed hook of a whole file does not count: it fails every test, unless they are skipped.
    if (event.name === 'test_fn_failure') this.#failed = true;
    if (event.name === 'test_start' && this.#failed) event.test.mode = 'skip';
  }
}
