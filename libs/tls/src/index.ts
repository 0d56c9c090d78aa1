export { TLS_TERMS } from './tls-terms.js';
