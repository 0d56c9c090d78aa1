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
