import { describeClaim } from './claim-contract.js';
import { describeDue } from './due-contract.js';
import { describePublish } from './publish-contract.js';
import { describeReadAndAnnouncements } from './read-contract.js';
import type { MakeStore, StoreUnderTest } from './store-under-test.js';

/**
 * What every adapter of the session store port must do. It runs on virtual time and on a real store alike: order and
 * bounds are asserted, exact milliseconds never. `makeStore` gives each test an empty store; errors of listeners must
 * be taken by the adapter's own handler there, since one test throws in a listener.
 */
export function describeSessionStoreContract(name: string, makeStore: MakeStore): void {
  describe(`${name} as a session store`, () => {
    let underTest: StoreUnderTest;
    const bench = (): StoreUnderTest => underTest;
    beforeEach(async () => {
      underTest = await makeStore();
    });
    afterEach(() => underTest.dispose());

    describeDue(bench);
    describeClaim(bench);
    describePublish(bench);
    describeReadAndAnnouncements(bench);
  });
}
