import { Injectable } from '@nestjs/common';
import type { ServeVerdict } from '#libs/session';
import type { CountedRead } from '#libs/telemetry';
import { AuditTrail, type SessionRead } from '../audit/audit-trail.js';

type ReadResult = ServeVerdict['result'];

/** What is recorded for every read of a session, however it arrived. */
@Injectable()
export class SessionReads {
  /** Plain numbers: there are many reads and few scrapes. */
  readonly #counts = new Map<string, Record<ReadResult, number>>();

  constructor(private readonly audit: AuditTrail) {}

  served(read: SessionRead, result: ReadResult): void {
    this.#count(read.merchant, result);
    this.audit.read(read);
  }

  unavailable(merchant: string): void {
    this.#count(merchant, 'unavailable');
  }

  /** Reads so far, by merchant and result. */
  *counts(): Iterable<CountedRead> {
    for (const [merchant, counts] of this.#counts) {
      for (const [result, count] of Object.entries(counts)) yield { merchant, result, count };
    }
  }

  #count(merchant: string, result: ReadResult): void {
    const counts = this.#counts.get(merchant);
    if (counts !== undefined) counts[result] += 1;
    else this.#counts.set(merchant, { fresh: 0, stale: 0, unavailable: 0, [result]: 1 });
  }
}
