import { Inject, Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { endedAfterEach, eventually } from '../../../testing/src/index.js';
import { ClientClosed } from '../errors.js';
import { SessionBrokerModule, sessionBrokerToken } from './nest.js';
import { SessionBroker } from '../session-broker.js';
import { FakeBroker } from '../testing/fake-broker.js';

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
    await eventually(() => fake.requests.some(({ route }) => route === 'events'));
    await app!.close();
    await expect(broker.session()).rejects.toThrow(ClientClosed);
  });

  it('takes its options from what the application has', async () => {
    @Module({ providers: [{ provide: Settings, useFactory: () => new Settings(fake) }], exports: [Settings] })
    class SettingsModule {}
    const module = SessionBrokerModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: async (settings: Settings) => ({ ...settings.broker.options, follow: 'none' as const }),
    });
    expect((await (await compile(module)).get(Payments).broker.session()).merchant).toBe('shop');
  });

  it('has several merchants side by side', async () => {
    const other = started.add(await FakeBroker.start({ merchant: 'other' }), (it) => it.close());
    const injector = await compile(
      SessionBrokerModule.forRoot(fake.options),
      SessionBrokerModule.forRoot({ ...other.options, name: 'second' }),
    );
    const second = injector.get<SessionBroker>(sessionBrokerToken('second'));
    expect((await second.session()).merchant).toBe('other');
    expect((await injector.get(Payments).broker.session()).merchant).toBe('shop');
  });
});
