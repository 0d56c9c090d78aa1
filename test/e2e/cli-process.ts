import { ProgramProcess } from './program-process.js';

/** The built command line as a separate process. */
export class CliProcess extends ProgramProcess {
  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    super('cli', { args, environment });
  }
}

export async function runCli(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const cli = new CliProcess(args);
  const code = await cli.ended;
  return { code, out: cli.out, err: cli.err };
}
