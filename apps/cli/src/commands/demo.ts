import { join } from 'node:path';
import { BrokerError } from '#libs/errors';
import { checkoutFolder } from '../checkout-folder.js';
import { prepareDemoFiles } from '../demo/demo-files.js';
import { chooseDemoPorts, type DemoPortOptions } from '../demo/demo-ports.js';
import { runDemo } from '../demo/demo-run.js';
import { exitCodes } from '../exit-codes.js';
import type { CommandContext } from '../terminal.js';

/**
 * Runs sandbox, broker and egress until asked to end. All its files are in `.demo/` in the checkout.
 * @returns the exit code: 0 if it was ended on request, 1 if something could not start or died
 */
export async function demo(options: DemoPortOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  try {
    const checkout = checkoutFolder(import.meta.dirname);
    const ports = await chooseDemoPorts(options, context.environment);
    const files = await prepareDemoFiles(join(checkout, '.demo'), ports);
    const failure = await runDemo({ checkout, ports, files }, context);
    if (failure === undefined) {
      terminal.out('stopped');
      return exitCodes.ok;
    }
    terminal.err(`error: the ${failure.name} has failed: ${failure.reason}`);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    terminal.err(`error: ${error.detail ?? error.message}`);
  }
  return exitCodes.failed;
}
