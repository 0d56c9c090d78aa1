import { endedAfterAll, eventually } from '#libs/testing';
import { GuidePrograms, GuideStage } from './guide-programs.js';

/** The way of each guide; other languages, and what each program says of failures, are asked by `verify`. */
describe('the programs of the guides', () => {
  let programs: GuidePrograms;
  let stage: GuideStage;

  const started = endedAfterAll();
  beforeAll(async () => {
    programs = started.add(await GuidePrograms.copied(), (it) => it.remove());
    stage = started.add(await GuideStage.start(programs), ({ broker }) => broker.close());
  });

  it('tell of a payment on the hosted page once it is paid', async () => {
    const receiver = started.add(await programs.start('notifications', 'ts', stage.env), (it) => it.end());
    const { ecomOperationId } = await stage.paid({ NOTIFICATION_URL: `${receiver.url}/notifications` });
    await eventually(() => receiver.lines.length > 1);
    expect(receiver.lines[1]).toBe(`hosted_page ${ecomOperationId} is SUCCESS`);
  });

  it('give back what was paid', async () => {
    const { operationId: OPERATION_ID } = await stage.paid();
    const printed = await programs.output('refund', 'ts', { ...stage.env, OPERATION_ID });
    expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
  });

  it('give back through a merchant SDK though the session is dead, sealed anew, at one create call', async () => {
    const { operationId: OPERATION_ID } = await stage.paid();
    const before = await stage.broker.createCalls();
    await stage.endSession();
    const printed = await programs.output('merchant-sdk', 'ts', { ...stage.env, OPERATION_ID });
    expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
    expect(await stage.broker.createCalls()).toBe(before + 1);
  });
});
