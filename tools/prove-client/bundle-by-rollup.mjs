import resolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';

const bundle = await rollup({
  input: 'service.mjs',
  plugins: [resolve({ exportConditions: ['node'] })],
  external: /^node:/,
});
await bundle.write({ file: 'rollup.mjs', format: 'es', inlineDynamicImports: true });
