import webpack from 'webpack';

const output = { path: import.meta.dirname, filename: 'webpack.cjs' };
webpack({ mode: 'production', target: 'node20', entry: './service.mjs', output }, (error, stats) => {
  if (error !== null || stats.hasErrors()) throw error ?? new Error(stats.toString());
});
