import { Injectable } from '@nestjs/common';
import type { ServeVerdict } from '#libs/session';
import type { CountedRead } from '#libs/telemetry';

type ReadResult = ServeVerdict['result'];

/** Reads by merchant and result. Plain numbers: there are many reads and few scrapes. */
@Injectable()
export class ReadCounts {
  readonly #counts = new Map<string, Record<ReadResult, number>>();

  count(merchant: string, result: ReadResult): void {
    const counts = this.#counts.get(merchant);
    if (counts !== undefined) counts[result] += 1;
    else this.#counts.set(merchant, { fresh: 0, stale: 0, unavailable: 0, [result]: 1 });
  }

  *all(): Iterable<CountedRead> {
    for (const [merchant, counts] of this.#counts) {
      for (const [result, count] of Object.entries(counts)) yield { merchant, result, count };
    }
  }
}
