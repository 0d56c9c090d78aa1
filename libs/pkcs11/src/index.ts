export { namesToken, readTokenKeyFile, TokenClientKeys, tokenKey, type TokenUse } from './token-client-keys.js';
export { TokenError, type TokenFault, tokenFaults } from './token-fault.js';
export { TokenProcess } from './token-process.js';
export { type TokenReference, tokenReferenceOf } from './token-reference.js';
