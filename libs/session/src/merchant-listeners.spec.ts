import { MerchantListeners } from './merchant-listeners.js';

describe('listeners by merchant', () => {
  it('hear of their own merchant, each as long as it listens', () => {
    const listeners = new MerchantListeners<number>();
    const heard: string[] = [];
    const endFirst = listeners.add('shop', (subject) => heard.push(`first ${subject}`));
    listeners.add('shop', (subject) => heard.push(`second ${subject}`));
    listeners.add('kiosk', (subject) => heard.push(`kiosk ${subject}`));
    listeners.tell('shop', 1);
    endFirst();
    listeners.tell('shop', 2);
    listeners.tell('unknown', 3);
    expect(heard).toEqual(['first 1', 'second 1', 'second 2']);
  });

  it('are not ended by one that ended before them, however often it says so', () => {
    const listeners = new MerchantListeners<number>();
    const heard: number[] = [];
    const end = listeners.add('shop', () => undefined);
    end();
    listeners.add('shop', (subject) => heard.push(subject));
    end();
    listeners.tell('shop', 1);
    expect(heard).toEqual([1]);
  });

  it('may end while they are told, without disturbing the others', () => {
    const listeners = new MerchantListeners<number>();
    const heard: string[] = [];
    const end = listeners.add('shop', () => {
      heard.push('first');
      end();
    });
    listeners.add('shop', () => heard.push('second'));
    listeners.tell('shop', 1);
    listeners.tell('shop', 2);
    expect(heard).toEqual(['first', 'second', 'second']);
  });
});
