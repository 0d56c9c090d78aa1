export { nextOf } from './read-contract.js';
export type { StoreUnderTest } from './store-under-test.js';
import { describeBudget } from './budget-contract.js';
import { describeClaim, describeDue, describeFences, describeMoments } from './claim-contract.js';
import { describePublish } from './publish-contract.js';
import { describeAnnouncements, describeRead, describeReport } from './read-contract.js';
import type { MakeStore, StoreUnderTest } from './store-under-test.js';

/**
 * What every adapter of the session store port must do. It runs both on virtual time and on a real store: order and
 * bounds are asserted, exact milliseconds never. `makeStore` gives each test an empty store, whose adapter must handle
 * listener errors with its own handler, since one test throws in a listener.
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
    describeMoments(bench);
    describeFences(bench);
    describeBudget(bench);
    describePublish(bench);
    describeReport(bench);
    describeRead(bench);
    describeAnnouncements(bench);
  });
}
