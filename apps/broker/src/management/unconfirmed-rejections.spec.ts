import { FakeClock } from '#libs/testing';
import { UnconfirmedRejections } from './unconfirmed-rejections.js';

type Result = 'renewed' | 'already_newer' | 'cooled_down' | 'unavailable';

class Stage {
  readonly clock = new FakeClock();
  readonly tracked = new UnconfirmedRejections(this.clock);

  reject(consumer: string, generation: number, told: { result?: Result; merchant?: string } = {}): void {
    const event = { event: 'session_rejected', merchant: 'shop', result: 'renewed', isFirst: true } as const;
    this.tracked.emit({ ...event, generation, consumer, ...told });
  }

  async counts(): Promise<unknown> {
    await this.clock.advance(60_000);
    return [...this.tracked.all()];
  }
}

describe('rejections that nobody else confirms', () => {
  it('are counted for the consumer that caused a renewal alone, once its time is over', async () => {
    const stage = new Stage();
    stage.reject('checkout', 7);
    await stage.clock.advance(59_999);
    expect([...stage.tracked.all()]).toEqual([]);
    expect(await stage.counts()).toEqual([{ merchant: 'shop', consumer: 'checkout', count: 1 }]);
    expect(await stage.counts()).toEqual([{ merchant: 'shop', consumer: 'checkout', count: 1 }]);
  });

  it('are counted at once when the next session is reported as well', () => {
    const stage = new Stage();
    for (const generation of [7, 8, 9]) stage.reject('checkout', generation);
    expect([...stage.tracked.all()]).toEqual([{ merchant: 'shop', consumer: 'checkout', count: 2 }]);
  });

  it.each<Result>(['renewed', 'unavailable'])(
    'are none when another consumer reports the same session, whatever it is answered: %s',
    async (result) => {
      const stage = new Stage();
      stage.reject('checkout', 7);
      stage.reject('refunds', 7, { result });
      expect(await stage.counts()).toEqual([]);
    },
  );

  it('are not confirmed by their own consumer, by a report of another session, or for another merchant', async () => {
    const stage = new Stage();
    stage.reject('checkout', 7);
    stage.reject('checkout', 7, { result: 'already_newer' });
    stage.reject('refunds', 6, { result: 'already_newer' });
    stage.reject('refunds', 7, { result: 'already_newer', merchant: 'kiosk' });
    expect(await stage.counts()).toEqual([{ merchant: 'shop', consumer: 'checkout', count: 1 }]);
  });

  it('are none that caused no renewal', async () => {
    const stage = new Stage();
    stage.reject('checkout', 7, { result: 'already_newer' });
    stage.reject('checkout', 8, { result: 'cooled_down' });
    stage.tracked.emit({ event: 'store_recovered' });
    expect(await stage.counts()).toEqual([]);
  });
});
