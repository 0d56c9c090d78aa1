import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { BrokerError } from '#libs/errors';
import type { Caller } from './caller.js';
import { Authenticator } from './authenticator.service.js';
import { PolicyTable } from './policy-table.js';

/** Authenticator and policies in one answer, for whoever leaves the refusal to somebody else. */
@Injectable()
export class ReadAccess {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly policies: PolicyTable,
  ) {}

  /** Undefined as well for a caller that is not known yet: finding out takes time, and is done elsewhere. */
  allowedCaller(request: IncomingMessage, merchant: string): Caller | undefined {
    const caller = this.authenticator.known(request);
    if (caller === undefined) return undefined;
    try {
      this.policies.assertAllowed(caller, merchant, 'session:read');
      return caller;
    } catch (error) {
      if (error instanceof BrokerError) return undefined;
      throw error;
    }
  }
}
