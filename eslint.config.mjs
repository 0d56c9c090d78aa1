// Where editors look for it. Its packages are those of test/verify: `npm run lint` installs them.
export { default } from './test/verify/lint-rules.mjs';
