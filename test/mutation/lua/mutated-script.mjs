import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import swcJest from '@swc/jest';

/** Replaces one piece of one script's source, which LUA_MUTANT names, and leaves the rest to the usual transformer. */
export default {
  createTransformer: (swc) => {
    const usual = swcJest.createTransformer(swc);
    const mutated = (source, file) => {
      const { script, start, end, replacement } = JSON.parse(process.env.LUA_MUTANT ?? '{}');
      return basename(file) === script ? source.slice(0, start) + replacement + source.slice(end) : source;
    };
    return {
      process: (source, file, options) => usual.process(mutated(source, file), file, options),
      processAsync: async (source, file, options) => usual.process(mutated(source, file), file, options),
      getCacheKey: (source, file) =>
        createHash('sha256')
          .update(JSON.stringify(['lua-mutant', swc, file, mutated(source, file)]))
          .digest('hex'),
    };
  },
};
