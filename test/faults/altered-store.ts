import type { SessionStore } from '#libs/session';

/** A store with one operation that does what the test says. */
export function altered<Name extends keyof SessionStore>(
  name: Name,
  make: (store: SessionStore) => SessionStore[Name],
): (store: SessionStore) => SessionStore {
  return (store: SessionStore): SessionStore =>
    new Proxy(store, {
      get: (target, asked) => {
        const member: unknown = asked === name ? make(target) : Reflect.get(target, asked);
        return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
      },
    });
}

/** As a replica sees the store while it lacks the key that sessions are sealed to. */
export function withoutKey(isLacking: (replica: number) => boolean) {
  return (store: SessionStore, replica: number): SessionStore =>
    altered('read', (inner) => async (wanted) => {
      const read = await inner.read(wanted);
      if (!isLacking(replica)) return read;
      const states = read.states.map((state) => {
        if (state.stored.kind !== 'session') return state;
        return { ...state, stored: { kind: 'unopenable', generation: state.stored.session.generation } as const };
      });
      return { ...read, states };
    })(store);
}
