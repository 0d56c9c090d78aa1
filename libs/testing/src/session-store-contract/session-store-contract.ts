export { nextOf } from './announcement-contract.js';
import { describeAnnouncements } from './announcement-contract.js';
import { describeBudget } from './budget-contract.js';
import { describeBudgetWindows } from './budget-windows-contract.js';
import { describeClaim } from './claim-contract.js';
import { describeCondemn } from './condemn-contract.js';
import { describeDue } from './due-contract.js';
import { describeFences } from './fence-contract.js';
import { describeOffer } from './offer-contract.js';
import { describePublish } from './publish-contract.js';
import { describeRead } from './read-contract.js';
import { describeReportDead } from './report-dead-contract.js';
import { describeSeats } from './seat-contract.js';
import type { MakeStore, StoreUnderTest } from './store-under-test.js';
import { describeWatchedMoments } from './watched-contract.js';

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
    describeFences(bench);
    describeBudget(bench);
    describeBudgetWindows(bench);
    describeWatchedMoments(bench);
    describePublish(bench);
    describeOffer(bench);
    describeCondemn(bench);
    describeReportDead(bench);
    describeRead(bench);
    describeSeats(bench);
    describeAnnouncements(bench);
  });
}
