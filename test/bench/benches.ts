import { benchAccount } from './account-bench.js';
import type { BenchLine } from './bench-line.js';
import type { BenchName } from './bench-names.js';
import { benchClient } from './client-bench.js';
import { benchEgress } from './egress-bench.js';
import { benchHandover } from './handover-bench.js';
import { benchHttp } from './http-bench.js';
import { benchJwe } from './jwe-bench.js';
import { benchMemory } from './memory-bench.js';
import { benchPayments } from './payment-bench.js';
import { benchPayloads } from './payload-bench.js';
import { benchOverhead, benchRenewals } from './renewal-bench.js';
import { benchRestart } from './restart-bench.js';
import { benchScale } from './scale-bench.js';
import { benchScrape } from './scrape-bench.js';
import { sealedAccount } from './sealed-account.js';
import { benchStart } from './start-bench.js';
import { benchStarvation } from './starvation-bench.js';
import { benchTelemetry } from './telemetry-bench.js';
import { benchWatchers } from './watcher-bench.js';

export const benches: Readonly<Record<BenchName, () => Promise<readonly BenchLine[]>>> = {
  jwe: benchJwe,
  http: benchHttp,
  account: async () => [...(await benchAccount()), ...(await sealedAccount())],
  payloads: benchPayloads,
  client: benchClient,
  watchers: benchWatchers,
  payments: benchPayments,
  handover: benchHandover,
  egress: benchEgress,
  start: benchStart,
  restart: benchRestart,
  memory: benchMemory,
  renewals: benchRenewals,
  overhead: benchOverhead,
  scale: benchScale,
  scrape: benchScrape,
  starvation: benchStarvation,
  telemetry: benchTelemetry,
};
