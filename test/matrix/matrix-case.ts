import { setTimeout as pause } from 'node:timers/promises';
import { describeError } from '#libs/errors';
import { eventually } from '#libs/testing';
import { Stage, type StageSetUp } from './stage.js';
import type { Topology } from './store-under-fault.js';

/** For a dead session, after a single fault has ended. */
const DEAD_AFTER_GOAL_MS = 1_000;
const RENEWED_WITHIN_MS = 20_000;
const AGREED_WITHIN_MS = 20_000;
/** How long to watch for what should no longer happen. */
const WATCHED_MS = 600;

export interface MatrixCase extends StageSetUp {
  readonly name: string;
  /** What is done, for people to read. */
  readonly done: string;
  /** Create calls after the first session, without that of the aftermath. */
  readonly expected: number;
  /** Create calls beyond those; 0 for faults of the store alone. */
  readonly extra: 0 | 1;
  /** The longest that a dead session may be handed out once the fault has ended. */
  readonly goalMs?: number;
  /** By default a consumer reports its session at the end, and a new one has to reach every replica. */
  readonly aftermath?: 'none';
  /** Makes things go wrong, until they are as before. `before` create calls were made for the start. */
  readonly play: (stage: Stage, before: number) => Promise<void>;
}

export interface CaseResult {
  readonly name: string;
  readonly done: string;
  readonly topology: Topology;
  readonly expected: number;
  readonly seen: number;
  readonly whileItLastedMs: number;
  readonly afterItEndedMs: number;
  /** From the end of the fault until every replica was on the live session; undefined if that never happened. */
  readonly recoveryMs: number | undefined;
  readonly wrong: readonly string[];
  /** What the gateway and the replicas saw. */
  readonly trace: readonly string[];
}

/** Plays one case from the first session to the last look. */
export async function playCase(matrixCase: MatrixCase): Promise<CaseResult> {
  const stage = await Stage.start(matrixCase);
  try {
    const wrong: string[] = [];
    const first = (await stage.gateway.createCalls()).length;
    wrong.push(...(await played(stage, matrixCase, first)));
    const recoveryMs = await recovery(stage, matrixCase, first);
    await pause(WATCHED_MS);
    if (matrixCase.aftermath !== 'none') wrong.push(...(await aftermath(stage)));
    return await resultOf({ stage, matrixCase, first, recoveryMs, wrong });
  } finally {
    await stage.close();
  }
}

/** A case that waits in vain is a row like any other. */
async function played(stage: Stage, { play }: MatrixCase, first: number): Promise<readonly string[]> {
  try {
    await play(stage, first);
    return [];
  } catch (error) {
    return [describeError(error)];
  } finally {
    stage.end();
  }
}

async function recovery(stage: Stage, { expected }: MatrixCase, first: number): Promise<number | undefined> {
  await within(RENEWED_WITHIN_MS, async () => (await stage.gateway.finished()) >= first + expected);
  const isSo = await within(AGREED_WITHIN_MS, () => stage.isAgreed());
  return isSo ? Math.max(0, Date.now() - stage.end()) : undefined;
}

/** What a fault has left behind shows when the next session is requested. @returns what is wrong */
async function aftermath(stage: Stage): Promise<readonly string[]> {
  const before = await stage.gateway.live();
  const [reporter = 0] = stage.fleet.inService;
  const isRenewed = await within(RENEWED_WITHIN_MS, async () => {
    const generation = stage.fleet.record.generationOf(reporter);
    return generation !== undefined && (await stage.fleet.report(reporter, generation));
  });
  if (!isRenewed) return ['a later report brought no new session'];
  const isFollowed = await within(
    AGREED_WITHIN_MS,
    async () => (await stage.isAgreed()) && before !== (await stage.gateway.live()),
  );
  await pause(WATCHED_MS);
  return isFollowed ? [] : ['not every replica followed a later renewal'];
}

interface Played {
  readonly stage: Stage;
  readonly matrixCase: MatrixCase;
  readonly first: number;
  readonly recoveryMs: number | undefined;
  readonly wrong: readonly string[];
}

async function resultOf({ stage, matrixCase, first, recoveryMs, wrong }: Played): Promise<CaseResult> {
  const { name, done, topology = 'one server', extra, goalMs = DEAD_AFTER_GOAL_MS } = matrixCase;
  const seen = (await stage.gateway.createCalls()).length - first;
  const expected = matrixCase.expected + (matrixCase.aftermath === 'none' ? 0 : 1);
  const sessions = await stage.gateway.sessions();
  const dead = stage.fleet.record.deadTimes(sessions, stage.end());
  const verdicts = [
    ...wrong,
    ...stage.fleet.record.violations(sessions),
    ...(seen > expected + extra ? [`${seen - expected} create calls too many`] : []),
    ...(seen < expected ? ['a renewal is missing'] : []),
    ...(dead.afterItEndedMs > goalMs ? [`a dead session for ${Math.round(dead.afterItEndedMs)} ms`] : []),
    ...(recoveryMs === undefined ? ['the replicas did not come together'] : []),
  ];
  const trace = [...(await stage.gateway.createCalls()).map((call) => JSON.stringify(call)), ...stage.fleet.trace()];
  return { name, done, topology, expected, seen, ...dead, recoveryMs, wrong: verdicts, trace };
}

/** @returns whether it became true in time */
async function within(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const state = { isSo: false };
  const wait = eventually(async () => (state.isSo ||= await isSo()), ms);
  // That it never became true is what the caller wants to know; an error of the question itself is passed on.
  await wait.catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes('did not happen'))) throw error;
  });
  return state.isSo;
}
