import { endedAfterEach, LoopbackServer } from '#libs/testing';
import { chooseDemoPorts } from './demo-ports.js';

const anyPorts = {
  DEMO_BROKER_PORT: '0',
  DEMO_MANAGEMENT_PORT: '0',
  DEMO_SANDBOX_PORT: '0',
  DEMO_EGRESS_PORT: '0',
  DEMO_EGRESS_MANAGEMENT_PORT: '0',
};

describe('the ports of the demo', () => {
  const started = endedAfterEach();
  const takePort = async (): Promise<number> =>
    started.add(await LoopbackServer.tcp(() => undefined), (it) => it.close()).port;

  it('are the usual ones, or all of them as much further on as is asked', async () => {
    const ports = { broker: 10_580, management: 11_964, sandbox: 10_581, egress: 10_590, egressManagement: 11_966 };
    expect(await chooseDemoPorts({ portOffset: '2500' }, {})).toEqual(ports);
    expect((await chooseDemoPorts({ portOffset: '2500' }, anyPorts)).broker).toBeGreaterThan(0);
  });

  it('say in one line which of them are taken, all at once, and how to choose others', async () => {
    const [management, egress] = [await takePort(), await takePort()];
    const wanted = { ...anyPorts, DEMO_MANAGEMENT_PORT: String(management), DEMO_EGRESS_PORT: String(egress) };
    await expect(chooseDemoPorts({}, wanted)).rejects.toMatchObject({
      code: 'address_in_use',
      detail:
        `port ${management} for the management is taken, port ${egress} for the egress is taken; ` +
        'move all ports with npm start -- --port-offset <number>, ' +
        'or choose others with DEMO_MANAGEMENT_PORT=<port> DEMO_EGRESS_PORT=<port> npm start (0: any free one)',
    });
  });

  it.each(['http', '-1', '65536', '80.5', ''])('refuse what is not a port: %j', async (text) => {
    for (const choosing of [
      chooseDemoPorts({}, { ...anyPorts, DEMO_SANDBOX_PORT: text }),
      chooseDemoPorts({ portOffset: text }, anyPorts),
    ])
      await expect(choosing).rejects.toMatchObject({ code: 'configuration_invalid' });
  });
});
