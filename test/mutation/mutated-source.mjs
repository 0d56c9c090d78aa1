import { createHash } from 'node:crypto';
import swcJest from '@swc/jest';

/** Replaces one piece of one file's source, as MUTANT says, and leaves the rest to the usual transformer. */
export default {
  createTransformer: (swc) => {
    const usual = swcJest.createTransformer(swc);
    const mutated = (source, path) => {
      const { file, start, end, replacement } = JSON.parse(process.env.MUTANT ?? '{}');
      const isMeant = file !== undefined && path.endsWith(`/${file}`);
      return isMeant ? source.slice(0, start) + replacement + source.slice(end) : source;
    };
    return {
      process: (source, path, options) => usual.process(mutated(source, path), path, options),
      processAsync: async (source, path, options) => usual.process(mutated(source, path), path, options),
      getCacheKey: (source, path) =>
        createHash('sha256')
          .update(JSON.stringify(['mutant', swc, path, mutated(source, path)]))
          .digest('hex'),
    };
  },
};
