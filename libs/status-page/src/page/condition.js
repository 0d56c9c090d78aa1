/** @import { StatusCondition } from '../status-document.js' */
import { capital } from './wording.js';

/**
 * Worst first; a test keeps them in step with the domain.
 * @type {readonly StatusCondition[]}
 */
export const conditions = ['unavailable', 'foreign_authorizer', 'dead', 'stale', 'failing', 'fresh'];

/** @param {StatusCondition} condition */
export const nameOf = (condition) => capital(condition.replaceAll('_', ' '));
