import { type Instant, msBetween, toRfc3339 } from '#libs/clock';
import { fact, fault, type Finding, warning } from './check.js';

const DAY_MS = 86_400_000;
const WARN_BELOW_DAYS = 30;

/** How long a certificate is still valid, as a finding. It gives dates and whole days, never times of day. */
export function lifeOf(what: string, endsAt: Instant, now: Instant): Finding {
  const leftDays = Math.floor(msBetween(now, endsAt) / DAY_MS);
  const end = toRfc3339(endsAt).slice(0, 10);
  if (endsAt <= now) return fault('invalidInput', `${what} ended on ${end}`, 'replace it');
  return leftDays < WARN_BELOW_DAYS
    ? warning(`${what} ends on ${end}, in ${leftDays} days`, 'replace it before then')
    : fact(`${what} ends on ${end}`);
}
