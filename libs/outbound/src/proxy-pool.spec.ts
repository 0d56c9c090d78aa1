import { type buildConnector, ProxyAgent } from 'undici';
import { proxyPool } from './proxy-pool.js';

describe('the pool of a proxy', () => {
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
      clientFactory: (origin, options) => proxyPool(origin, { ...options, connect }),
    });
    await expect(agent.request({ origin: 'https://gateway.example', path: '/', method: 'GET' })).rejects.toThrow(
      'nobody is there',
    );
    expect(targets.map((target) => [target.hostname, target.servername])).toEqual([[hostname, servername]]);
    await agent.close();
  });

  it('is none without the connections that undici makes', () => {
    expect(() => proxyPool('https://proxy.example', {})).toThrow(TypeError);
  });
});
