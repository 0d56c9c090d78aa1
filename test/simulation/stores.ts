import { MemorySessionStore } from '#libs/store';
import type { MakeStore } from './store-server.js';

const makeStore: MakeStore = (clock) => new MemorySessionStore({ clock });

/** The store that is simulated, and what it is held to. */
export const stores: { readonly makeStore: MakeStore; readonly makeSpecified?: MakeStore } = { makeStore };
