import { Injectable } from '@nestjs/common';
import type { Refusal } from './credential-refused.js';

type FailedAuthentication = Refusal | 'unavailable';

/** Authentications that failed, by reason: counted here, collected at a scrape. */
@Injectable()
export class AuthenticationFailures {
  readonly #counts = new Map<FailedAuthentication, number>();

  count(reason: FailedAuthentication): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  all(): Iterable<readonly [reason: FailedAuthentication, count: number]> {
    return this.#counts;
  }
}
