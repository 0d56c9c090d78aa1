import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { BrokerError } from '#libs/errors';
import { Authenticator } from './authenticator.service.js';
import { PolicyTable } from './policy-table.js';

/** Authenticator and policies as one yes or no, for whoever leaves the refusal to somebody else. */
@Injectable()
export class ReadAccess {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly policies: PolicyTable,
  ) {}

  /** False as well for a caller that is not known yet: finding out takes time, and is done elsewhere. */
  allows(request: IncomingMessage, merchant: string): boolean {
    const caller = this.authenticator.known(request);
    if (caller === undefined) return false;
    try {
      this.policies.assertAllowed(caller, merchant, 'session:read');
      return true;
    } catch (error) {
      if (error instanceof BrokerError) return false;
      throw error;
    }
  }
}
