import { type BenchLine, formatLines } from './bench-line.js';
import { benchClient } from './client-bench.js';
import { benchEgress } from './egress-bench.js';
import { benchHandover } from './handover-bench.js';
import { benchHttp } from './http-bench.js';
import { benchJwe } from './jwe-bench.js';
import { benchPayments } from './payment-bench.js';
import { benchPayloads } from './payload-bench.js';
import { benchOverhead, benchRenewals } from './renewal-bench.js';
import { benchRestart } from './restart-bench.js';
import { benchScale } from './scale-bench.js';
import { benchScrape } from './scrape-bench.js';
import { benchStart } from './start-bench.js';
import { benchStarvation } from './starvation-bench.js';
import { benchTelemetry } from './telemetry-bench.js';
import { benchWatchers } from './watcher-bench.js';

const benches: Readonly<Record<string, () => Promise<readonly BenchLine[]>>> = {
  jwe: benchJwe,
  http: benchHttp,
  payloads: benchPayloads,
  client: benchClient,
  watchers: benchWatchers,
  payments: benchPayments,
  handover: benchHandover,
  egress: benchEgress,
  start: benchStart,
  restart: benchRestart,
  renewals: benchRenewals,
  overhead: benchOverhead,
  scale: benchScale,
  scrape: benchScrape,
  starvation: benchStarvation,
  telemetry: benchTelemetry,
};

/** Runs every bench, or those named on the command line: `npm run bench -- jwe`. */
async function main(names: readonly string[]): Promise<number> {
  const unknown = names.find((name) => benches[name] === undefined);
  if (unknown !== undefined) {
    console.error(`There is no bench "${unknown}". There are: ${Object.keys(benches).join(', ')}.`);
    return 2;
  }
  const lines: BenchLine[] = [];
  for (const [name, bench] of Object.entries(benches)) {
    if (names.length === 0 || names.includes(name)) lines.push(...(await bench()));
  }
  console.log(formatLines(lines));
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
