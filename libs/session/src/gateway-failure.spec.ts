import { checkedTrace, type FailureTrace, GatewayFailure, sharedFailureKinds } from './gateway-failure.js';

const thumbprint = 'LrSCJ6m3kJpUOrX0Yt0v8Zc2tXG5qJ0o3dY4mH1nZ7A';

describe('what is shown of a failure', () => {
  it.each<[keyof FailureTrace, readonly unknown[], readonly unknown[]]>([
    ['mark', ['ECONNREFUSED', `E${'x'.repeat(63)}`], ['', '1E', 'a b', `E${'x'.repeat(64)}`, 7]],
    ['peer', ['gateway.test:443', '[::1]:443'], ['', 'a/b', 'a b', 'x'.repeat(261)]],
    ['viaProxy', [true], [false, 'true']],
    ['httpStatus', [100, 599], [99, 600, 200.5, '200']],
    ['requestId', ['a-b.c_1', 'x'.repeat(64)], ['', ' a', 'a ', 'x'.repeat(65)]],
    ['thumbprint', [thumbprint], [thumbprint.slice(1), `${thumbprint}=`]],
    ['unknownCode', [true], [false, 1]],
    ['lostSession', [true], [false, 1]],
  ])('has %s by its own rule', (name, shown, dropped) => {
    for (const value of shown) expect(checkedTrace({ [name]: value })).toEqual({ [name]: value });
    for (const value of dropped) expect(checkedTrace({ [name]: value })).toBeUndefined();
  });

  it('is nothing of what is no object, and none of what has no rule', () => {
    for (const value of [undefined, null, 'mark', 7]) expect(checkedTrace(value)).toBeUndefined();
    expect(checkedTrace({ mark: 'ECONNREFUSED', authToken: 'secret' })).toEqual({ mark: 'ECONNREFUSED' });
  });
});

describe('a failed call', () => {
  it('may have reached the gateway unless it is known that it did not', () => {
    const reached = [undefined, true, false].map(
      (wasReached) =>
        new GatewayFailure({
          kind: 'timeout',
          detail: 'on purpose',
          ...(wasReached === undefined ? {} : { wasReached }),
        }).wasReached,
    );
    expect(reached).toEqual([true, true, false]);
  });

  it("is shown with the gateway's own code, or with what came instead of an answer", () => {
    const shown = [{ msgCode: 'b_busy', instead: 'html_page' as const }, { instead: 'empty_answer' as const }, {}].map(
      (facts) => new GatewayFailure({ kind: 'transient', detail: 'on purpose', ...facts }).shownCode,
    );
    expect(shown).toEqual(['b_busy', 'empty_answer', undefined]);
  });

  it('is told to other replicas unless it was our own doing', () => {
    expect(sharedFailureKinds).toEqual(expect.arrayContaining(['transient', 'key_unavailable']));
    expect(sharedFailureKinds).not.toContain('aborted');
  });
});
