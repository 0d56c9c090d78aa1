import { isUntrusted } from '#libs/causes';
import type { RecordedFailure, Session } from '#libs/session';
import type { StatusFailure, StatusGateway } from './status-document.js';

/** Worst first. */
const severity = ['untrusted', 'failing', 'refusing', 'unknown', 'answering'] as const;

/** A merchant of the gateway, as every replica knows it: whichever of them made the call. */
export interface Called {
  readonly host: string;
  readonly session: Session | undefined;
  /** Since that session. */
  readonly failure: RecordedFailure | undefined;
}

/** How a gateway answers create calls, by the last call for each of its merchants. The worst gateway comes first. */
export function gatewaysOf(merchants: readonly Called[], skews: ReadonlyMap<string, number>): StatusGateway[] {
  const hosts = Map.groupBy(merchants, ({ host }) => host);
  const gateways = [...hosts].map(([host, called]) => gatewayOf(host, called, skews.get(host)));
  return gateways.sort((left, right) => severity.indexOf(left.health) - severity.indexOf(right.health));
}

function gatewayOf(host: string, called: readonly Called[], skewMs: number | undefined): StatusGateway {
  const failures = called.flatMap(({ failure }) => (failure !== undefined && isOfGateway(failure) ? [failure] : []));
  const [last] = failures.toSorted((left, right) => right.at - left.at);
  const ends = new Set(failures.map(endOf));
  const answers = [
    ...called.flatMap(({ session }) => session?.createdAt ?? []),
    ...failures.flatMap((failure) => (endOf(failure) === 'refusing' ? [failure.at] : [])),
  ];
  const [lastAnswerAt] = answers.toSorted((left, right) => right - left);
  const well = lastAnswerAt === undefined ? 'unknown' : 'answering';
  return {
    host,
    merchants: called.length,
    health: severity.find((health) => ends.has(health)) ?? well,
    failing: failures.length,
    lastAnswerAt,
    lastFailure: last && failureShown(last),
    skewMs,
  };
}

/** A gateway that refuses a merchant or has revoked its access has answered. */
function endOf(failure: RecordedFailure): StatusGateway['health'] {
  if (isUntrusted(failure)) return 'untrusted';
  return failure.kind === 'refused' || failure.kind === 'revoked' ? 'refusing' : 'failing';
}

/** A key of ours that cannot be used says nothing about the gateway. */
function isOfGateway({ kind }: RecordedFailure): boolean {
  return kind !== 'key_unavailable';
}

export function failureShown({ at, kind, msgCode, trace }: RecordedFailure): StatusFailure {
  return { at, kind, code: msgCode ?? trace?.mark };
}
