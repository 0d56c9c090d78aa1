import { BrokerError } from '#libs/errors';
import { isStoreOutage, isStoreSilence } from './store-outage.js';

describe('a failure of the store', () => {
  const table = {
    'is an outage and silence when it did not answer': [new BrokerError('store_unavailable'), true, true],
    'is an outage and no silence when it refused': [new BrokerError('store_refused'), true, false],
    'is neither when it is another failure of ours': [new BrokerError('internal_error'), false, false],
    'is neither when it is a bug': [new TypeError('store_unavailable'), false, false],
    'is neither when it only looks like one': [{ code: 'store_unavailable' }, false, false],
    'is neither when it only looks like a refusal': [{ code: 'store_refused' }, false, false],
    'is neither when nothing was thrown': [undefined, false, false],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [error, isOutage, isSilence]) => {
    expect([isStoreOutage(error), isStoreSilence(error)]).toEqual([isOutage, isSilence]);
  });
});
