import { conditionOf, type GatewayFailureFacts } from '#libs/session';
import { Cluster, type ClusterOptions } from './cluster.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const unopened: GatewayFailureFacts = { kind: 'invalid_response', detail: 'not opened', lostSession: true };
const away: GatewayFailureFacts = { kind: 'transient', detail: 'away', msgCode: 'b_server_is_overloaded' };
const LOST = /^the bank has made a session that we cannot use, and it ends ours; /;

/** Replicas whose first renewal yields a session that none of them can open. */
class Lost {
  readonly cluster: Cluster;

  private constructor(options: ClusterOptions) {
    this.cluster = new Cluster({ replicas: 2, latencyMs: 10, lifetimeMs: HOUR, ...options });
  }

  static async running(options: ClusterOptions = {}): Promise<Lost> {
    const lost = new Lost(options);
    await lost.cluster.clock.advance(MINUTE);
    return lost;
  }

  get conditions(): readonly string[] {
    return this.cluster.replicas.map(({ replica }) => conditionOf(replica, 'shop'));
  }

  get causes(): readonly (string | undefined)[] {
    return this.cluster.replicas.map(({ replica }) => replica.causeFor('shop')?.text);
  }

  async renewalFails(failure: GatewayFailureFacts): Promise<void> {
    this.cluster.gateway.answerAlways(failure);
    const { length } = this.cluster.gateway.calls;
    while (this.cluster.gateway.calls.length === length) await this.cluster.clock.advance(SECOND);
    await this.cluster.clock.advance(SECOND);
  }
}

describe('a session of the bank that cannot be used here', () => {
  it('is told on every replica as what has most likely ended ours, whatever ends the next calls', async () => {
    const lost = await Lost.running();
    await lost.renewalFails(away);
    expect(lost.conditions).toEqual(['failing', 'failing']);
    await lost.renewalFails(unopened);
    expect(lost.conditions).toEqual(['likely_dead', 'likely_dead']);
    expect(lost.causes).toEqual([expect.stringMatching(LOST), expect.stringMatching(LOST)]);
    await lost.renewalFails(away);
    expect(lost.conditions).toEqual(['likely_dead', 'likely_dead']);
    expect(lost.causes[1]).toMatch(/ours; the bank reports a fault of its own: b_server_is_overloaded$/);
    expect(lost.cluster.served().map((served) => served?.verdict.result)).toEqual(['fresh', 'fresh']);
  });

  it('is made good by the next session', async () => {
    const lost = await Lost.running();
    await lost.renewalFails(unopened);
    lost.cluster.gateway.answerAlways(undefined);
    await lost.cluster.clock.advance(2 * MINUTE);
    expect(lost.conditions).toEqual(['fresh', 'fresh']);
    expect(lost.causes).toEqual([undefined, undefined]);
  });

  it('is nothing to a merchant whose sessions live beside each other', async () => {
    const lost = await Lost.running({ settings: { supersedes: false } });
    await lost.renewalFails(unopened);
    expect(lost.conditions).toEqual(['failing', 'failing']);
    expect(lost.causes.filter((cause) => cause === undefined || LOST.test(cause))).toEqual([]);
  });
});
