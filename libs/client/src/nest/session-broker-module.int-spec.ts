import { Inject, Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { endedAfterEach, eventually } from '../../../testing/src/index.js';
import { ClientClosed } from '../errors.js';
import { SessionBroker } from '../session-broker.js';
import { FakeBroker } from '../testing/fake-broker.js';
import { SessionBrokerHealth } from './session-broker-health.js';
import { SessionBrokerModule, sessionBrokerHealthToken, sessionBrokerToken } from './session-broker-module.js';

@Injectable()
class Payments {
  constructor(@Inject(SessionBroker) readonly broker: SessionBroker) {}
}

class Settings {
  constructor(readonly broker: FakeBroker) {}
}

describe('the module for Nest', () => {
  let fake: FakeBroker;
  let app: TestingModule | undefined;

  const started = endedAfterEach();
  beforeEach(async () => {
    fake = started.add(await FakeBroker.start(), (it) => it.close());
    app = undefined;
  });
  afterEach(() => app?.close());

  const compile = async (...imports: NonNullable<Parameters<typeof Module>[0]['imports']>): Promise<TestingModule> => {
    app = await Test.createTestingModule({ imports, providers: [Payments] }).compile();
    await app.init();
    return app;
  };

  it('gives the client to whoever wants it, and closes it with the application', async () => {
    const { broker } = (await compile(SessionBrokerModule.forRoot(fake.options))).get(Payments);
    expect((await broker.session()).generation).toBe(1);
    await eventually(() => fake.counts.events > 0);
    await app!.close();
    await expect(broker.session()).rejects.toThrow(ClientClosed);
  });

  it('takes its options from what the application has', async () => {
    @Module({ providers: [{ provide: Settings, useFactory: () => new Settings(fake) }], exports: [Settings] })
    class SettingsModule {}
    const module = SessionBrokerModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: async (settings: Settings) => ({ ...settings.broker.options, follow: 'poll' as const }),
    });
    expect((await (await compile(module)).get(Payments).broker.session()).merchant).toBe('shop');
  });

  it('has several merchants side by side', async () => {
    const other = started.add(await FakeBroker.start({ merchant: 'other' }), (it) => it.close());
    const modules = [
      SessionBrokerModule.forRoot(fake.options),
      SessionBrokerModule.forRoot({ ...other.options, name: 'second' }),
    ];
    const injector = await compile(...modules);
    const second = injector.get<SessionBroker>(sessionBrokerToken('second'));
    expect((await second.session()).merchant).toBe('other');
    expect((await injector.get(Payments).broker.session()).merchant).toBe('shop');
    const health = injector.get<SessionBrokerHealth>(sessionBrokerHealthToken('second'));
    expect(await health.isHealthy('second')).toMatchObject({ second: { status: 'up' } });
  });

  it('refuses options that cannot be used when the application starts', async () => {
    const options = { ...fake.options, merchnat: 'shop' };
    await expect(compile(SessionBrokerModule.forRoot(options))).rejects.toThrow('There is no option "merchnat"');
  });

  it('refuses a member of its own that does not exist, and a factory that gives nothing', async () => {
    const misspelled = { useFactroy: () => fake.options } as never;
    expect(() => SessionBrokerModule.forRootAsync(misspelled)).toThrow('There is no option "useFactroy"');
    const nothing = SessionBrokerModule.forRootAsync({ useFactory: () => undefined as never });
    await expect(compile(nothing)).rejects.toThrow('The options must be an object, with url, merchant');
  });

  it('says that it is well when there is a session, and begins to follow for it', async () => {
    const health = (await compile(SessionBrokerModule.forRoot(fake.options))).get(SessionBrokerHealth);
    const { expiresAt } = fake.session!;
    const up = { session: { status: 'up', generation: 1, expiresAt } };
    expect(await health.isHealthy()).toEqual(up);
    expect(await health.demandHealthy()).toEqual(up);
    fake.fail({ route: 'read', with: 'silence', times: Infinity });
    expect(await health.isHealthy()).toEqual(up);
  });

  it.each<[string, Parameters<FakeBroker['fail']>[0]['with'], string]>([
    ['does not answer', 'silence', 'timeout'],
    ['refuses the caller', { status: 403, code: 'forbidden' }, 'forbidden'],
  ])('says that it is not when the broker %s', async (_what, how, code) => {
    fake.fail({ with: how, times: Infinity });
    const health = (await compile(SessionBrokerModule.forRoot(fake.options))).get(SessionBrokerHealth);
    const down = { session: { status: 'down', code, message: expect.any(String) } };
    expect(await health.isHealthy()).toEqual(down);
    await expect(health.demandHealthy()).rejects.toMatchObject({ isHealthCheckError: true, causes: down });
  });

  it('says why it is not while it is still tried: nothing listens there', async () => {
    await fake.close();
    const health = (await compile(SessionBrokerModule.forRoot(fake.options))).get(SessionBrokerHealth);
    const message = `The broker cannot be reached: ECONNREFUSED (${fake.url}, merchant "shop")`;
    expect(await health.isHealthy()).toEqual({ session: { status: 'down', code: 'network', message } });
  });
});
