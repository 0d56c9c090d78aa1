export * from './entries/main.js';
export * from './entries/file-token.js';
