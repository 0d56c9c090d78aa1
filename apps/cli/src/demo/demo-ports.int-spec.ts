import { createServer, type Server } from 'node:net';
import { chooseDemoPorts } from './demo-ports.js';

const anyPorts = {
  DEMO_BROKER_PORT: '0',
  DEMO_MANAGEMENT_PORT: '0',
  DEMO_SANDBOX_PORT: '0',
  DEMO_EGRESS_PORT: '0',
  DEMO_EGRESS_MANAGEMENT_PORT: '0',
};

describe('the ports of the demo', () => {
  let taken: Server | undefined;
  const takePort = (): Promise<number> =>
    new Promise((resolve) => {
      const server = createServer();
      taken = server;
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
  afterEach(() => new Promise<void>((resolve) => (taken === undefined ? resolve() : taken.close(() => resolve()))));

  it('are five free ones on request', async () => {
    const ports = await chooseDemoPorts({}, anyPorts);
    expect(new Set(Object.values(ports)).size).toBe(5);
    expect(Object.values(ports).every((port) => port > 0)).toBe(true);
  });

  it('are taken from the command line before the environment', async () => {
    const wanted = await takePort();
    await expect(
      chooseDemoPorts({ brokerPort: '0' }, { ...anyPorts, DEMO_BROKER_PORT: String(wanted) }),
    ).resolves.toEqual(expect.objectContaining({ broker: expect.not.stringMatching(String(wanted)) as unknown }));
  });

  it.each([
    ['broker', 'DEMO_BROKER_PORT'],
    ['management', 'DEMO_MANAGEMENT_PORT'],
    ['sandbox', 'DEMO_SANDBOX_PORT'],
    ['egress', 'DEMO_EGRESS_PORT'],
    ["egress's management", 'DEMO_EGRESS_MANAGEMENT_PORT'],
  ])('say in one line that the one for the %s is taken, and how to choose another', async (role, variable) => {
    const port = await takePort();
    const choosing = chooseDemoPorts({}, { ...anyPorts, [variable]: String(port) });
    await expect(choosing).rejects.toMatchObject({
      code: 'address_in_use',
      detail: `port ${port} for the ${role} is taken; choose another with ${variable}=<port> npm start (0: any free one)`,
    });
  });

  it.each(['http', '-1', '65536', '80.5', ''])('refuse what is not a port: %j', async (text) => {
    await expect(chooseDemoPorts({ sandboxPort: text }, anyPorts)).rejects.toMatchObject({
      code: 'configuration_invalid',
    });
  });

  it('are different ones however often any will do: none is let go while the others are chosen', async () => {
    for (let time = 0; time < 500; time += 1) {
      const ports = Object.values(await chooseDemoPorts({}, anyPorts));
      expect(new Set(ports).size).toBe(ports.length);
    }
  });

  it('are refused by a name that is nearly one of theirs, and would have no effect', async () => {
    await expect(chooseDemoPorts({}, { ...anyPorts, DEMO_BROKR_PORT: '0' })).rejects.toMatchObject({
      code: 'configuration_invalid',
      detail: 'there is no DEMO_BROKR_PORT: did you mean DEMO_BROKER_PORT?',
    });
    await expect(chooseDemoPorts({}, { ...anyPorts, DEMO_OF_ANOTHER: 'x' })).resolves.toBeDefined();
  });

  it('must differ', async () => {
    const { broker } = await chooseDemoPorts({}, anyPorts);
    const same = { brokerPort: String(broker), managementPort: String(broker), sandboxPort: '0' };
    await expect(chooseDemoPorts(same, anyPorts)).rejects.toMatchObject({ code: 'configuration_invalid' });
  });
});
