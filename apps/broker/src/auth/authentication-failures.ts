import { Injectable } from '@nestjs/common';
import { type Refusal, REFUSALS } from './credential-refused.js';

type FailedAuthentication = Refusal | 'unavailable';

/** Failed authentications by reason: counted here from zero, collected at a scrape. */
@Injectable()
export class AuthenticationFailures {
  readonly #counts = new Map<FailedAuthentication, number>(
    [...REFUSALS, 'unavailable' as const].map((reason) => [reason, 0]),
  );

  count(reason: FailedAuthentication): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  all(): Iterable<readonly [reason: FailedAuthentication, count: number]> {
    return this.#counts;
  }
}
