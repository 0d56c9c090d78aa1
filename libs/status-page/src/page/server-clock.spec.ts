import { ServerClock } from './server-clock.js';

describe("the page's idea of the replica's clock", () => {
  it("goes by what the replica said and by the page's monotonic clock, not by the reader's wall clock", () => {
    let monotonicMs = 500;
    const clock = new ServerClock(() => monotonicMs);
    clock.correct(1_795_000_000_000);
    monotonicMs += 1_500;
    expect([clock.now(), clock.newsAt(), clock.sinceNewsMs()]).toEqual([1_795_000_001_500, 1_795_000_000_000, 1_500]);
  });

  it('follows the replica when it corrects its clock, forwards and back', () => {
    const clock = new ServerClock(() => 0);
    for (const at of [1_000, 9_000, 4_000]) {
      clock.correct(at);
      expect(clock.now()).toBe(at);
    }
  });
});
