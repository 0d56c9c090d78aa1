import { AnswerNotice } from './answer-notice.js';
import type { Left } from './follow-state.js';
import type { ReplicaTrouble } from './replica-trouble.js';

describe('what is told of replicas that say nothing of a merchant', () => {
  const urls = [new URL('http://a.example'), new URL('http://b.example')] as const;
  const down = (url: URL): ReplicaTrouble => ({
    ...{ url, fault: 'tryLater' },
    error: { code: 'broker_unreachable', message: 'nothing listens there', remedy: 'start it' },
  });

  const left: Left = { kind: 'nothing', words: 'nothing is seen of the merchant', facts: { streamOpen: false } };

  it('is which of them has had it, also where another one says nothing, either', () => {
    const told: string[] = [];
    const notice = new AnswerNotice({
      broker: { urls, token: () => Promise.resolve(undefined), hasToken: false, ca: undefined },
      merchant: 'shop',
      state: { hasBegun: true },
      hasHad: (url) => url === urls[1],
      tell: ({ words }) => void told.push(words),
    });
    notice.missing({ troubles: urls.map(down), left });
    notice.missing({ troubles: urls.map(down), left });
    notice.missing({ troubles: [down(urls[1])], left });
    notice.answered();
    const has = 'http://b.example, which has it: nothing listens there\nWhat to do: start it';
    expect(told).toEqual([
      `Nothing is seen of the merchant:\nhttp://a.example: nothing listens there\n${has}`,
      `Nothing is seen of the merchant: ${has}`,
      'The broker answers again.',
    ]);
  });

  it('is for programs first of all why the one that has had it is not seen, however grave the trouble of another one is', () => {
    const told: object[] = [];
    const notice = new AnswerNotice({
      broker: { urls, token: () => Promise.resolve(undefined), hasToken: false, ca: undefined },
      merchant: 'shop',
      state: { hasBegun: true },
      hasHad: (url) => url === urls[1],
      tell: ({ facts }) => void told.push(facts),
    });
    const error = { code: 'certificate_untrusted', message: 'the certificate is not trusted' };
    const stranger: ReplicaTrouble = { url: urls[0], fault: 'refused', error };
    notice.missing({ troubles: [stranger, down(urls[1])], left });
    const { error: unreachable } = down(urls[1]);
    expect(told).toEqual([
      {
        ...{ merchant: 'shop', answers: false, streamOpen: false, error: unreachable },
        replicas: [
          { place: 'http://a.example', error },
          { place: 'http://b.example', error: unreachable, hadMerchant: true },
        ],
      },
    ]);
  });

  it('is no answer again of a broker that had never answered, though its first session has come meanwhile', () => {
    const told: string[] = [];
    const state = { hasBegun: false };
    const notice = new AnswerNotice({
      broker: { urls, token: () => Promise.resolve(undefined), hasToken: false, ca: undefined },
      ...{ merchant: 'shop', state, hasHad: () => false },
      tell: ({ words }) => void told.push(words),
    });
    notice.missing({ troubles: urls.map(down), left });
    state.hasBegun = true;
    notice.answered();
    notice.missing({ troubles: urls.map(down), left });
    notice.answered();
    expect(told.filter((words) => words.includes('answers'))).toEqual([
      'The broker answers.',
      'The broker answers again.',
    ]);
  });
});
