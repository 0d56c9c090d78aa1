export { type Fetched, fetchPublished, type PublishedPlace } from './fetch-published.js';
export { keysOf, SIGNATURE_ALGORITHMS, usableKeys } from './usable-keys.js';
export { type Trouble, whatIsWrong } from './what-is-wrong.js';
