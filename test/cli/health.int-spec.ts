import { endedAfterAll, freePort, LoopbackServer } from '#libs/testing';
import { Examined } from './examined.js';

describe('cli health', () => {
  let examined: Examined;
  let url: string;
  let status: number | undefined;

  const started = endedAfterAll();
  beforeAll(async () => {
    examined = started.add(await Examined.create(), (it) => it.remove());
    const server = await LoopbackServer.http((_request, response) => {
      if (status !== undefined) response.writeHead(status).end('{}');
    });
    url = `http://127.0.0.1:${started.add(server, (it) => it.close()).port}/readyz`;
  });

  async function health(...args: string[]): Promise<[code: number, said: string]> {
    const { code, text } = await examined.cli('health', ...args);
    return [code, text];
  }

  it('ends with 0 for a broker that says it is well', async () => {
    status = 200;
    expect(await health(url)).toEqual([0, `${url} answers 200`]);
  });

  it('ends with 4 for one that is not ready, is not there, or says nothing for two seconds', async () => {
    status = 503;
    expect(await health(url)).toEqual([4, `${url} answers 503`]);
    const nobody = `http://127.0.0.1:${await freePort()}/readyz`;
    expect(await health(nobody)).toEqual([4, `${nobody} does not answer (ECONNREFUSED)`]);
    status = undefined;
    expect(await health(url)).toEqual([4, `${url} does not answer (ABORT_ERR)`]);
  });

  it('ends with 2 for what is not an http URL', async () => {
    expect((await health('ftp://127.0.0.1/'))[0]).toBe(2);
    expect((await health('nonsense'))[0]).toBe(2);
  });
});
