import { MemorySessionStore } from '#libs/store';
import { SpecifiedSteps } from './specified-steps.js';
import type { MakeStore } from './store-server.js';

const makeStore: MakeStore = (clock) => new MemorySessionStore({ clock });

/** The simulated store, and what it is held to. */
export const stores = { makeStore, makeSpecified: (): SpecifiedSteps => new SpecifiedSteps() } as const;
