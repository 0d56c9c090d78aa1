export { bearerTokenOf, digestOf } from './bearer-token.js';
export { CertificateCallers, type CertifiedCaller } from './certificate-callers.js';
export { answerClientError } from './client-error.js';
export { drain, endConnections, isEnding, watchConnections } from './drain.js';
export { edgeHeaders, requestIdOf } from './edge-headers.js';
export { type Address, listen } from './listen.js';
export { type Problem, PROBLEM_CONTENT_TYPE, problemOf } from './problem.js';
export { RateLimiter } from './rate-limiter.js';
export { tlsOptions } from './tls-options.js';
