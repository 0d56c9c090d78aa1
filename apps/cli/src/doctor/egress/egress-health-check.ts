import { get } from 'node:http';
import type { EgressConfiguration } from '#libs/configuration';
import { systemCodeOf } from '../../system-error.js';
import { type Check, fact, looked, notApplicable, type Verdict, warning } from '../check.js';

const LIMIT_MS = 2_000;
const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Whether the egress of this configuration is ready, if it runs here. */
export function egressHealthCheck({ management }: Pick<EgressConfiguration, 'management'>): Check {
  return {
    name: 'management',
    needs: ['configuration'],
    limitMs: LIMIT_MS,
    run: async (signal) => {
      const answer = await statusOf(management, signal);
      if (answer === undefined) return notApplicable(`nothing runs on port ${management.port} of this machine`);
      return verdictOn(answer);
    },
  };
}

function verdictOn(status: number): Verdict {
  return looked(
    [
      status === 200
        ? fact('/readyz answers 200')
        : warning(`/readyz answers ${status}`, 'it says for which merchants there is no session'),
    ],
    { status },
  );
}

/** @returns undefined when nobody listens */
function statusOf({ host, port }: EgressConfiguration['management'], signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const place = { host: EVERYWHERE[host] ?? host, port, path: '/readyz', agent: false, signal };
    const request = get(place, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode));
    });
    request.once('error', (error) => {
      if (systemCodeOf(error) === 'ECONNREFUSED') resolve(undefined);
      else reject(error);
    });
  });
}
