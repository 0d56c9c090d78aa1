// Lets Node.js import our TypeScript: the sources import each other the way the compiler wants it, by the names of its
// output.
import { registerHooks } from 'node:module';

const fromSource = ({ parentURL = '' }) => parentURL.endsWith('.ts');
registerHooks({
  resolve: (name, context, next) =>
    next(fromSource(context) ? name.replace(/^(\.{1,2}\/.*)\.js$/, '$1.ts') : name, context),
});
