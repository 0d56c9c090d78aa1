import { readFault } from './fault.js';
import { lossOf } from './loss.js';

describe('a call is lost', () => {
  it.each([
    [{ kind: 'hang', at: 'body' }, 'hang', 'body'],
    [{ kind: 'drop', at: 'answer' }, 'drop', 'answer'],
    [{ kind: 'address_refused', as: 'reset' }, 'drop', 'arrival'],
    [{ kind: 'address_refused', as: 'silence' }, 'hang', 'arrival'],
  ])('by %j', (fault, kind, at) => {
    expect(lossOf(readFault(fault))).toMatchObject({ kind, at });
  });

  it.each([{ kind: 'address_refused' }, { kind: 'firewall_page' }, { kind: 'error' }])('not by %j', (fault) => {
    expect(lossOf(readFault(fault))).toBeUndefined();
  });
});
