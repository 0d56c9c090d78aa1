import { Injectable } from '@nestjs/common';
import { BrokerError } from '#libs/errors';
import { Authenticator } from './authenticator.js';
import { PolicyTable } from './policy-table.js';

/** Authenticator and policies as one yes or no, for whoever leaves the refusal to somebody else. */
@Injectable()
export class ReadAccess {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly policies: PolicyTable,
  ) {}

  allows(authorization: string | undefined, merchant: string): boolean {
    try {
      this.policies.assertAllowed(this.authenticator.authenticate(authorization), merchant, 'session:read');
      return true;
    } catch (error) {
      if (error instanceof BrokerError) return false;
      throw error;
    }
  }
}
