import { type buildConnector, ProxyAgent } from 'undici';
import { pool } from './pool.js';

describe('a pool of connections', () => {
  it.each([
    ['https://proxy.example:3128', 'proxy.example', 'proxy.example'],
    ['https://192.0.2.7:3128', '192.0.2.7', undefined],
    ['https://[2001:db8::7]:3128', '2001:db8::7', undefined],
  ])('connects to %s with no address as the name of the server', async (uri, hostname, servername) => {
    const targets: Partial<buildConnector.Options>[] = [];
    const connect: buildConnector.connector = (target, callback) => {
      targets.push(target);
      callback(new Error('nobody is there'), null);
    };
    const agent = new ProxyAgent({
      uri,
      clientFactory: (origin, options) => pool(origin, { ...options, connect }),
    });
    await expect(agent.request({ origin: 'https://gateway.example', path: '/', method: 'GET' })).rejects.toThrow(
      'nobody is there',
    );
    expect(targets.map((target) => [target.hostname, target.servername])).toEqual([[hostname, servername]]);
    await agent.close();
  });

  it('is none where undici does not say how to connect', () => {
    expect(() => pool('https://proxy.example', {})).toThrow(TypeError);
  });
});
