export { fileToken, type FileTokenOptions } from '../file-token.js';
