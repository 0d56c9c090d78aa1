const session = (name) => `libs/session/src/${name}.ts`;

/**
 * Mistakes that someone could make, one line each, with a name that says what would go wrong. Stryker knows operators
 * and conditions; these are the ones that a person would write.
 */
export const handMade = [
  {
    name: 'the floor of a claim is always 0: a store that forgot grants a number again',
    file: session('claims'),
    was: 'floor: this.#seat === undefined ? held.floor(merchant) : floorOfSeat(this.#seat, held.floor(merchant)),',
    becomes: 'floor: 0,',
  },
  {
    name: 'an announcement is dropped while a renewal is in flight',
    file: session('session-sync'),
    was: 'else if (generation > this.#context.held.generationOf(merchant)) this.#following.want([merchant]);',
    becomes: 'else if (!this.#context.renewer.isRenewing(merchant)) this.#following.want([merchant]);',
  },
  {
    name: 'any rest of a lease is long enough for a call',
    file: session('renewal-attempt'),
    was: 'return this.#leftMs() >= this.#settings.gatewayTimeoutMs + PUBLISH_ALLOWANCE_MS;',
    becomes: 'return this.#leftMs() > 0;',
  },
  {
    name: 'a session is as old as it is to us, whatever the store says of its age',
    file: session('session-sync'),
    was: 'held.storeClock.ageMs(storeAgeMs, session.createdAt) + clock.monotonicMs() - askedAtMs;',
    becomes: '0;',
  },
  {
    name: 'a call that the end of the lease aborted is not backed off from',
    file: session('failed-call'),
    was: "const kind = failure.kind === 'aborted' ? 'timeout' : failure.kind;",
    becomes: 'const kind = failure.kind;',
  },
  {
    name: 'a fenced publication does not make the replica read again',
    file: session('renewal-result'),
    was: "return result.kind === 'already_newer' || result.kind === 'lost';",
    becomes: "return result.kind === 'already_newer';",
  },
  {
    name: 'a rejection has no cool-down',
    file: session('session-rejections'),
    was: 'coolDownMs: replacesLiving ? REJECTION_COOL_DOWN_MS : 0,',
    becomes: 'coolDownMs: 0,',
  },
  {
    name: 'a replica goes on alone before the margin',
    file: session('renewer'),
    was: "const isNeeded = trigger === 'rejection' || held.facts(merchant).freshMs <= 0;",
    becomes: 'const isNeeded = true;',
  },
  {
    name: 'a call that a shutdown aborted is given back to the budget',
    file: session('renewal-attempt'),
    was: 'await this.#release({ called: true, nextDueInMs: 0 });',
    becomes: 'await this.#release({ called: false, nextDueInMs: 0 });',
  },
  {
    name: 'a gap in the announcements is not followed by a read',
    file: session('session-sync'),
    was: "if (announcement.kind === 'gap') return this.#following.want(this.#context.merchants.ids());",
    becomes: "if (announcement.kind === 'gap') return;",
  },
  {
    name: 'what the store has lost is not offered to it',
    file: session('session-sync'),
    was: 'unpublished.keep({ session, answeredAtMs, known: session.generation });',
    becomes: '',
  },
  {
    name: 'a claimant serves its session from the publication on only',
    file: session('renewal-attempt'),
    was: 'this.#onIssued(made);',
    becomes: '',
  },
  {
    name: 'a store that refuses is taken for a bug',
    file: session('leased-renewals'),
    was: 'if (!isStoreRefusal(error)) throw error;',
    becomes: 'throw error;',
  },
  {
    name: 'a session whose lease ended over the call is dropped',
    file: session('renewer'),
    was: 'unpublished.keep(result.made);',
    becomes: '',
  },
  {
    name: 'two sessions of which nobody knows the last are never settled',
    file: session('renewal-loop'),
    was: 'this.#settle();\n',
    becomes: '\n',
  },
  {
    name: 'the own ceiling of calls is not asked',
    file: session('renewer'),
    was: 'if (retryInMs <= 0) return undefined;',
    becomes: 'if (retryInMs <= Infinity) return undefined;',
  },
  {
    name: 'wishes and rejections may spend the whole budget',
    file: session('claims'),
    was: 'if (request.coolDownMs === 0) return budget;',
    becomes: 'if (request.coolDownMs >= 0) return budget;',
  },
  {
    name: 'all seats make the same generations alone',
    file: session('generations'),
    was: 'return firstAbove(above, 2 * seat + 1);',
    becomes: 'return firstAbove(above, 1);',
  },
  {
    name: 'a stall of this process counts as silence of the store',
    file: session('store-silence'),
    was: 'if (tookMs > STALLED_AFTER_MS) {',
    becomes: 'if (tookMs > Infinity) {',
  },
  {
    name: 'a second call is made under a lease whose first one failed',
    file: session('renewal-attempt'),
    was: 'held.noteCalled(this.#merchant, this.#granted.lease.fence);',
    becomes: '',
  },
  {
    name: 'a back-off that the store tells may be of any length',
    file: session('session-sync'),
    was: 'Math.min(dueInMs, MAX_BACK_OFF_MS)',
    becomes: 'dueInMs',
  },
  {
    name: 'a lease that was watched to its end is not named in a claim',
    file: session('claims'),
    was: "const lease = watches.over(merchant, 'lease');",
    becomes: 'const lease = undefined;',
  },
  {
    name: 'a gateway that is behind makes a session last longer, inside the tolerance',
    file: session('clock-skew'),
    was: 'return plusMs(gatewayMoment, -Math.max(0, skew.mostMs));',
    becomes: 'return plusMs(gatewayMoment, -skew.mostMs);',
  },
  {
    name: 'a store that has never answered lets a replica go on alone',
    file: session('outage-renewals'),
    was: 'if (this.#seat === undefined || !silence.isLasting) return false;',
    becomes: 'if (!silence.isLasting) return false;',
  },
];
