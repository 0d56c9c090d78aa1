import { Injectable } from '@nestjs/common';
import type { ServeVerdict } from '#libs/session';
import { AuditTrail, type SessionRead } from '../audit/audit-trail.js';
import { ReadCounts } from './read-counts.js';

/** What is recorded for every read of a session, however it arrived. */
@Injectable()
export class SessionReads {
  constructor(
    private readonly counts: ReadCounts,
    private readonly audit: AuditTrail,
  ) {}

  served(read: SessionRead, result: ServeVerdict['result']): void {
    this.counts.count(read.merchant, result);
    this.audit.read(read);
  }

  unavailable(merchant: string): void {
    this.counts.count(merchant, 'unavailable');
  }
}
