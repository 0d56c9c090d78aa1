import { base } from '../../../jest.config.mjs';

/** The unit project alone, in the copy of the sources that is mutated: which specs belong to a target is in targets.mjs. */
export default { ...base };
