import { randomUUID } from 'node:crypto';
import { FakeClock } from '#libs/testing';
import { NotificationTargets, type Delivery } from './delivery.js';
import { Notifications } from './notifications.js';
import { generateKeyPair } from '../crypto/ec-key.js';
import { readMerchant } from '../merchants/merchant.js';
import { Waiting } from '../wire/waiting.js';

const merchant = readMerchant({ id: 'shop', serviceCode: randomUUID(), publicJwk: generateKeyPair().jwk });

describe('notifications', () => {
  let clock: FakeClock;
  let delivered: Delivery[];
  let notifications: Notifications;

  beforeEach(() => {
    clock = new FakeClock();
    delivered = [];
    notifications = new Notifications({
      clock,
      waiting: new Waiting(clock),
      targets: new NotificationTargets([]),
      deliverer: {
        deliver: (delivery: Delivery) => {
          delivered.push(delivery);
          return Promise.resolve({ failure: 'ECONNREFUSED' });
        },
      },
      capacity: 2,
    });
  });

  const send = (url = 'http://127.0.0.1:3000/'): void =>
    notifications.send({ merchant, url, document: { status: 'SUCCESS' }, isSealed: false });

  it('are given up for newer ones when there are too many', async () => {
    for (let count = 0; count < 3; count += 1) send();
    await clock.settle();
    expect(notifications.list().map(({ id }) => id)).toEqual([2, 3]);
    await clock.advance(5_000);
    expect(delivered).toHaveLength(5);
  });

  it('are no longer repeated after a reset', async () => {
    send();
    await clock.settle();
    notifications.reset();
    await clock.advance(86_400_000);
    expect(delivered).toHaveLength(1);
  });
});

describe('where notifications may go', () => {
  const targets = Object.assign(new NotificationTargets(['https://shop.example:8443']), { ownPort: 8081 });

  it.each([
    'http://127.9.9.9/hook',
    'http://localhost:3000/hook?a=b',
    'https://[::1]:3000/',
    'https://shop.example:8443/any',
  ])('to %s', (url) => {
    expect(targets.allowed(url)?.href).toBe(url);
  });

  it.each([
    'http://127.0.0.1:8081/control/reset',
    'http://localhost:8081/_sandbox/reset',
    'https://shop.example/hook',
    'http://shop.example:8443/hook',
    'http://shop.example:8443@evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://[::ffff:10.0.0.1]/',
    'http://10.0.0.1/',
    'http://0.0.0.0:3000/',
    'ftp://127.0.0.1/',
    '/hook',
  ])('not to "%s"', (url) => {
    expect(targets.allowed(url)).toBeUndefined();
  });

  it.each(['http://2130706433:3000/', 'http://0x7f.1:3000/'])('to this machine however it is written: %s', (url) => {
    expect(targets.allowed(url)?.hostname).toBe('127.0.0.1');
  });
});
