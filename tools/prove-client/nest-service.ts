import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { SessionBroker } from '@session-broker/client';
import { SessionBrokerHealth, SessionBrokerModule } from '@session-broker/client/nest';
import { FakeBroker } from '@session-broker/client/testing';

@Injectable()
class Payments {
  constructor(
    @Inject(SessionBroker) readonly broker: SessionBroker,
    @Inject(SessionBrokerHealth) readonly health: SessionBrokerHealth,
  ) {}

  pay(): Promise<string> {
    return this.broker.withSession(({ generation }) => {
      if (generation === 1) throw Object.assign(new Error('dead'), { msgCode: 'b_used_token' });
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

@Module({ imports: [FakeModule, client, TerminusModule], providers: [Payments] })
class AppModule {}

const isTen = (require('@nestjs/terminus/package.json') as { version: string }).version.startsWith('10.');

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const payments = app.get(Payments);
  const paid = await payments.pay();
  const check = (): Promise<object> =>
    app.get(HealthCheckService).check([() => (isTen ? payments.health.demandHealthy() : payments.health.isHealthy())]);
  if (!JSON.stringify(await check()).includes('"status":"ok"')) throw new Error('it is not well');
  const { broker } = app.get(Fake);
  broker.endSession();
  await app.close();
  const isClosed = await payments.broker.session().catch((error: Error) => error.name);
  if (isClosed !== 'ClientClosed') throw new Error('it was not closed');
  const down = await check().catch((error: { getStatus?: () => number }) => error.getStatus?.());
  if (down !== 503) throw new Error(`Terminus says ${JSON.stringify(down)} of a service without a session`);
  await broker.close();
  console.log(paid);
}

void main();
