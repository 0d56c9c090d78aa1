import TestEnvironment from '../../tools/test-environment.mjs';

/** A mutant is noticed by one test: after it, the rest of the file is left out. */
export default class FirstFailureEnds extends TestEnvironment {
  #failed = false;

  handleTestEvent(event) {
    // Not by a hook of a whole file: its failure is that of every test, unless they are left out.
    if (event.name === 'test_fn_failure') this.#failed = true;
    if (event.name === 'test_start' && this.#failed) event.test.mode = 'skip';
  }
}
