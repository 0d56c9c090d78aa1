import { FollowedReplica } from './followed-replica.js';

describe('the replica that is followed', () => {
  const urls = [new URL('http://a.example:8080'), new URL('https://b.example/broker/')] as const;

  it('is the next one after each interruption, and then the first again', () => {
    const replica = new FollowedReplica([...urls]);
    const followed = [0, 1, 2].map(() => {
      const { href } = replica.url;
      replica.changeOver();
      return href;
    });
    expect(followed).toEqual(['http://a.example:8080/', 'https://b.example/broker/', 'http://a.example:8080/']);
  });

  it('is asked in the place of the first, and named in its place', async () => {
    const replica = new FollowedReplica([...urls]);
    const asked: string[] = [];
    const init = { method: 'GET', headers: {} } as Parameters<ReturnType<FollowedReplica['through']>>[1];
    const fetch = replica.through((url) => (asked.push(url), Promise.resolve(new Response())));
    await fetch('http://a.example:8080/v1/merchants/shop/session?x=1', init);
    replica.changeOver();
    await fetch('http://a.example:8080/v1/merchants/shop/session?x=1', init);
    expect(asked).toEqual([
      'http://a.example:8080/v1/merchants/shop/session?x=1',
      'https://b.example/broker/v1/merchants/shop/session?x=1',
    ]);
    expect(replica.readdressed('no answer from http://a.example:8080')).toBe('no answer from https://b.example');
  });
});
