import type { UnavailableReason } from '#libs/errors';
import type { Cause, CauseEffect } from '#libs/session';
import type { CallFault } from './call-faults.js';

export type CauseCode = CallFault | Cause['code'] | UnavailableReason;

interface Words {
  /** To follow what the cause does; `{…}` is filled in by `told.ts`, or left out. */
  readonly says: string;
  /** What to do about it. */
  readonly remedy: string;
  /** The page of docs/runbooks that takes it from here. */
  readonly runbook: string;
  /** Nothing is tried soon by itself once that is done. */
  readonly thenRenew?: true;
}

/** What a cause does, before what it is. */
export const effects: Readonly<Record<CauseEffect, string>> = {
  payments_fail: 'Payments fail: ',
  reported_dead: 'Payments fail, by report: ',
  not_renewed: 'Not renewed: ',
  no_call: 'No call was made: ',
};

const network = (says: string, remedy: string): Words => ({ says, remedy, runbook: 'renewals-failing' });
const address = (says: string): Words => ({
  says,
  remedy: 'compare gateway.baseUrl with the address that the bank has given',
  runbook: 'renewals-failing',
  thenRenew: true,
});
const certificate = (says: string, remedy: string): Words => ({
  says: `the certificate of {where} ${says} ({mark})`,
  remedy,
  runbook: 'access-refused',
  thenRenew: true,
});
const byBank = (says: string, remedy: string): Words => ({
  says,
  remedy,
  runbook: 'access-refused',
  thenRenew: true,
});

const SEE_NETWORK = 'see whether firewalls and network policies let this machine out to it';
const SAME_KEYS = 'give every replica the same key files (clientKeyFiles)';
const STOP_THEM = 'find who else creates sessions of the merchant, and have it use the broker';

/** What is wrong, in words: each once. */
export const words: Readonly<Record<CauseCode, Words>> = {
  nothing_listens: network(
    'nothing listens there ({mark} to {where})',
    'see whether the gateway is up, and whether gateway.baseUrl names its host and port',
  ),
  no_address: network(
    'the host has no address ({mark} for {where})',
    'see the host in gateway.baseUrl, and the name servers of this machine',
  ),
  no_name_server: network(
    'the name server does not answer ({mark} for {where})',
    'see the name servers of this machine, and whether a network policy lets it out to them',
  ),
  no_route: network('no route leads there ({mark} to {where})', SEE_NETWORK),
  no_connection: network('nothing answers there ({mark} to {where})', SEE_NETWORK),
  broken_off: network(
    '{where} broke the call off ({mark})',
    'see whether the gateway restarts, and what stands between it and us',
  ),
  no_answer: network(
    'no answer in time from {where}{marked}',
    'ask the bank why its answers take so long, or see the network',
  ),
  timeout: network('the bank did not answer in time', 'wait: it is asked again with growing pauses'),
  transient: network(
    'the bank reports a fault of its own{said}',
    'wait: it is asked again with growing pauses; if it lasts, ask the bank with the gatewayRequestId',
  ),
  unknown_code: network('the bank answers with a code that is not known here{said}', 'ask the bank what it means'),
  firewall_or_proxy: network(
    'a firewall or proxy answers in place of the bank: a page of HTML{status}',
    'show those who run it the time, the address and the status',
  ),
  empty_answer: network(
    "the bank's answer is empty{status}",
    'see what stands between the bank and us, with the time and the status',
  ),
  invalid_response: network(
    "the bank's answer is not a session{said}",
    'show the bank the gatewayRequestId and the log line of the attempt',
  ),
  key_unavailable: network(
    'the token that keeps the private key does not work, so that no call is made',
    'see the device, its network and its PIN; restart no replica',
  ),
  tls_spoken: address('the port speaks TLS, but the address begins with http ({where})'),
  no_tls: address('the port speaks no TLS, but the address begins with https ({where})'),
  bad_port: address('the Fetch standard forbids that port ({where})'),
  maybe_misaddressed: address('gateway.baseUrl is probably wrong, or the service is away{answered}'),
  misaddressed: address('gateway.baseUrl is probably wrong: it takes no create calls{answered}'),
  redirected: address('gateway.baseUrl is probably wrong: it redirects, and no call follows{answered}'),
  certificate_expired: certificate('has expired', 'ask those who run the gateway for a new certificate'),
  certificate_not_yet_valid: certificate('is not valid yet', 'compare the clocks of both sides'),
  certificate_other_name: certificate('is for another name', 'compare gateway.baseUrl with the names that it has'),
  certificate_not_pinned: certificate(
    'has a key that is not pinned',
    'compare gateway.tls.pins with what the bank has announced',
  ),
  certificate_untrusted: certificate('is not trusted', 'compare gateway.tls.caFile with what the bank has announced'),
  unsendable: byBank('the request cannot be sent as configured ({mark})', "see the merchant's gateway settings"),
  refused: byBank(
    'the bank refuses{said}',
    'compare serviceCode and environment with what the bank has registered, or ask it, with the gatewayRequestId',
  ),
  revoked: byBank(
    'the bank has revoked the access{said}',
    'have the owner of the contract ask the bank to restore the access',
  ),
  firewall: byBank(
    'a firewall turns the call away: a page of HTML in place of an answer{status}',
    'ask the bank whether it lets in the address that calls come from: doctor --echo-url shows it',
  ),
  sealed: byBank(
    "the bank's new session opens with none of our keys",
    'compare the key that the bank has with ours, whose thumbprint is {thumbprint}',
  ),
  other_key: {
    says: 'another replica asked the bank with another key ({theirs}) than our newest ({ours})',
    remedy: SAME_KEYS,
    runbook: 'unopenable-records',
    thenRenew: true,
  },
  unopened: {
    says: 'the newer session {generation} opens with none of our keys',
    remedy: `${SAME_KEYS}; until then stop the one without the newest`,
    runbook: 'unopenable-records',
  },
  past_expiry: {
    says: 'the session was past its expiry on arrival',
    remedy: 'compare the clocks of broker and gateway',
    runbook: 'clock-skew',
    thenRenew: true,
  },
  store_silent: {
    says: 'the store does not answer',
    remedy: 'see whether Redis runs and is reachable; renewals go on by themselves as soon as it works',
    runbook: 'store-down',
  },
  store_refuses: {
    says: 'the store refuses what it is asked',
    remedy: 'see why on the status page, or by session-broker doctor; renewals then go on by themselves',
    runbook: 'store-down',
  },
  budget_exhausted: {
    says: '{budget} spent{until}',
    remedy: 'find what spent the calls; the next one is made by itself as soon as it is free',
    runbook: 'budget-exhausted',
  },
  foreign_authorizer: {
    says: 'somebody else creates sessions with the bank, and each ends ours',
    remedy: STOP_THEM,
    runbook: 'foreign-authorizer',
    thenRenew: true,
  },
  watched: {
    says: 'Payments failed until {failedUntil}: somebody else created sessions; watched until {watchedUntil}',
    remedy: STOP_THEM,
    runbook: 'foreign-authorizer',
  },
  not_replaced: {
    says: 'nothing newer has come yet',
    remedy: 'see who reports it, in the log',
    runbook: 'rejection-storm',
    thenRenew: true,
  },
  cooled_down: {
    says: 'consumers reject session after session',
    remedy: 'see who reports them, in the log',
    runbook: 'rejection-storm',
  },
  renewing: { says: 'a session is being created', remedy: 'wait for it', runbook: 'no-session' },
  not_tried: {
    says: 'no attempt has ended yet',
    remedy: 'wait a moment; if it lasts, run session-broker doctor',
    runbook: 'renewals-failing',
  },
  expired: {
    says: 'the last session has expired, and no attempt has ended since',
    remedy: 'run session-broker doctor',
    runbook: 'no-session',
  },
  no_session: {
    says: 'no session has been created yet, and no attempt has ended',
    remedy: 'run session-broker doctor',
    runbook: 'no-session',
  },
};
