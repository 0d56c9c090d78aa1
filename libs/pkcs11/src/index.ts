export { namesToken, readTokenKeyFile, tokenKey, type TokenUse } from './token-client-keys.js';
export { tokenFaults } from './token-fault.js';
export { TokenProcess } from './token-process.js';
export { type TokenReference, tokenReferenceOf } from './token-reference.js';
