import type { Authenticator } from '../auth/authenticator.service.js';
import { RequestLife } from '../http/request-life.js';
import { EventsModule } from './events.module.js';
import type { SessionWatchers } from './session-watchers.js';

describe('those who follow sessions', () => {
  it('are asked again who they are when an issuer has other keys, and let go when the replica stops', () => {
    const told: string[] = [];
    let keysChanged = (): void => undefined;
    const life = new RequestLife();
    const watchers = { endLost: () => told.push('lost'), endAll: () => told.push('all') };
    const authenticator = { onKeysChanged: (listener: () => void) => void (keysChanged = listener) };
    void new EventsModule(life, watchers as unknown as SessionWatchers, authenticator as unknown as Authenticator);
    keysChanged();
    life.shutDown();
    expect(told).toEqual(['lost', 'all']);
  });
});
