import { randomUUID } from 'node:crypto';
import { endedAfterAll, eventually, FakeClock } from '#libs/testing';
import { type Answer, type Caller, PATHS, type Route, ROUTES } from './callers.js';
import { answer as whole, outcomeOf, type Play } from './hostile-gateway.js';
import { PlayedStage } from './played-stage.js';

describe('payments over renewals', () => {
  const started = endedAfterAll();

  it('are each of one generation through a hundred of them: headers, key of the body and answer', async () => {
    // On it no wait ever ends by itself: what is answered has not waited.
    const clock = new FakeClock(new Date().toISOString());
    const stage = started.add(await PlayedStage.start({ clock }), (it) => it.close());
    const { broker, gateway, egress } = stage;
    const callers = egress.callers();
    await egress.plain().pay('clear', {});
    await eventually(() => broker.followed.length > 0);
    const mixed: string[] = [];
    const judged: Play = {
      run: ({ request, gateway: at, good, socket }) => {
        const session = at.sessionOf(request);
        const isOne = session?.refreshToken === request.valuesOf('x-refresh_token')[0];
        // Opening throws unless the body is sealed to the key of the session that the headers name.
        if (!isOne || (request.target === PATHS.sealed && at.plaintextOf(request) === '')) mixed.push(request.target);
        socket.write(whole(200, good));
      },
    };
    await gateway.script(...Array.from({ length: 20_000 }, () => judged));
    const pay = (caller: Caller, route: Route): Promise<Answer> =>
      caller.pay(route, { merchantRequestId: randomUUID() });
    const devices = (): string[] => gateway.seen.flatMap((request) => request.valuesOf('x-device_id'));
    const under: Promise<Answer>[] = [];
    for (let renewals = 0; renewals < 100; renewals += 1) {
      // Those are under way while the session is replaced; the ones after them wait until the egress has heard of it.
      under.push(...callers.flatMap((caller) => ROUTES.map((route) => pay(caller, route))));
      const { deviceId } = broker.renew();
      do {
        const next = pay(callers[under.length % callers.length] ?? egress.plain(), 'sealed');
        under.push(next);
        await next;
      } while (!devices().includes(deviceId));
    }
    const answers = await Promise.all(under);
    expect(new Set(answers.map((given) => outcomeOf(given)))).toEqual(new Set(['good']));
    expect(mixed).toEqual([]);
    expect(gateway.seen).toHaveLength(answers.length);
    expect(broker.rejections).toEqual([]);
  });
});
