const sourcesOf = (folder) => [`${folder}/**/*.ts`, `!${folder}/**/*spec.ts`, `!${folder}/**/index.ts`];
const specsOf = (folder) => `<rootDir>/${folder}/**/*.spec.ts`;

/**
 * What is mutated, and the specs that have to notice. Specs that need a server take too long for several hundred runs
 * each: what only those can notice survives here.
 */
export const targets = {
  clock: { mutate: sourcesOf('libs/clock/src'), specs: [specsOf('libs/clock')] },
  jwe: {
    // Keys in PEM are covered by the specs of the command line that converts them.
    mutate: [...sourcesOf('libs/jwe/src'), '!libs/jwe/src/pem-key.ts'],
    specs: [specsOf('libs/jwe')],
  },
  session: {
    mutate: sourcesOf('libs/session/src'),
    specs: [specsOf('libs/session'), specsOf('test/faults')],
  },
  store: {
    // The Redis adapter needs a real server: its scripts have their own mutants (test/mutation/lua).
    mutate: sourcesOf('libs/store/src/memory'),
    specs: [specsOf('libs/store/src/memory')],
  },
};
