import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionBroker, SessionRejected } from '@session-broker/client';
import { SessionBrokerModule } from '@session-broker/client/nest';
import { FakeBroker } from '@session-broker/client/testing';

@Injectable()
class Payments {
  constructor(@Inject(SessionBroker) readonly broker: SessionBroker) {}

  pay(): Promise<string> {
    return this.broker.withSession(({ generation }) => {
      if (generation === 1) throw new SessionRejected('b_used_token');
      return `paid with generation ${generation}`;
    });
  }
}

class Fake {
  constructor(readonly broker: FakeBroker) {}
}

@Module({
  providers: [{ provide: Fake, useFactory: async () => new Fake(await FakeBroker.start()) }],
  exports: [Fake],
})
class FakeModule {}

const client = SessionBrokerModule.forRootAsync({
  imports: [FakeModule],
  inject: [Fake],
  useFactory: ({ broker }: Fake) => broker.options,
});

@Module({ imports: [FakeModule, client], providers: [Payments] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const payments = app.get(Payments);
  const paid = await payments.pay();
  const { broker } = app.get(Fake);
  await app.close();
  const isClosed = await payments.broker.session().catch((error: Error) => error.name);
  if (isClosed !== 'ClientClosed') throw new Error('it was not closed');
  await broker.close();
  console.log(paid);
}

void main();
