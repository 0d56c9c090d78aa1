import { type BrokerConfiguration, ConfigurationError } from '#libs/configuration';
import type { AuditRecord, Logger } from '#libs/telemetry';
import { FakeClock, TestAuthority } from '#libs/testing';
import { type ConfigurationChange, changeBetween } from './configuration-change.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { brokerReloads } from './reload.js';

const STARTS = {
  level: 'info',
  port: 1,
  docs: true,
  watch: true,
  everyMs: 5_000,
  maxRemoved: 10,
  merchants: [] as readonly string[],
  warnings: [] as readonly object[],
  /** The API's certificate, as PEM. */
  cert: undefined as string | undefined,
};
type Says = Partial<typeof STARTS>;

function configuration(says: Says): BrokerConfiguration {
  const { level, port, docs, merchants, warnings, cert, ...reload } = { ...STARTS, ...says };
  const parts = {
    http: { host: '127.0.0.1', port, docs, ...(cert === undefined ? {} : { tls: { cert, key: 'key' } }) },
    auth: { disabled: false, mtls: false },
    audit: { destination: 'none' },
    pkcs11: { modules: [] },
    reload,
    log: { level },
    merchants: merchants.map((id) => ({ id })),
    files: [],
    warnings,
  };
  return parts as unknown as BrokerConfiguration;
}

/** Files that the test changes. */
class Files {
  loadedStamp = '0';
  loads = 0;
  says: Says | Error = {};
  #delay = Promise.resolve();
  #version = 0;

  stamp(): Promise<string> {
    return Promise.resolve(String(this.#version));
  }

  async load(): Promise<BrokerConfiguration> {
    this.loads += 1;
    this.loadedStamp = String(this.#version);
    const { says } = this;
    await this.#delay;
    if (says instanceof Error) throw says;
    return configuration(says);
  }

  /** Readings wait from now on. @returns what lets them go on */
  holdUp(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#delay = promise;
    return resolve;
  }

  change(says: Says | Error): void {
    this.says = says;
    this.#version += 1;
  }
}

class Stage {
  readonly clock = new FakeClock();
  readonly files = new Files();
  readonly lines: [level: string, fields: object, message: string][] = [];
  readonly records: AuditRecord[] = [];
  readonly outcomes: boolean[] = [];
  readonly configuration: ConfigurationInForce;
  readonly reloader: ReturnType<typeof brokerReloads>;

  constructor(starts: Says = {}) {
    this.configuration = new ConfigurationInForce(configuration(starts));
    const line =
      (level: string) =>
      (fields: object, message: string): void =>
        void this.lines.push([level, fields, message]);
    const logger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
    this.reloader = brokerReloads({
      source: this.files,
      configuration: this.configuration,
      changeOver: (next) => this.#changeOver(next),
      clock: this.clock,
      logger: logger as unknown as Logger,
      auditLog: { append: (record) => void this.records.push(record) },
      onReload: (isTaken) => void this.outcomes.push(isTaken),
    });
    this.reloader.start();
  }

  get level(): string {
    return this.configuration.current.log.level;
  }

  told(level: string): string[] {
    return this.lines.filter(([of]) => of === level).map(([, , message]) => message);
  }

  /** Changes the files, and waits until they have been read. */
  async reads(says: Says | Error): Promise<void> {
    this.files.change(says);
    await this.clock.advance(10_000);
  }

  #changeOver(next: BrokerConfiguration): ConfigurationChange {
    const before = this.configuration.current;
    this.configuration.replace(next);
    return changeBetween(before, next);
  }
}

describe('taking changed files', () => {
  it('reads them once when they have stood still for a second', async () => {
    const stage = new Stage();
    await stage.clock.advance(4_900);
    stage.files.change({ level: 'debug' });
    await stage.clock.advance(200);
    stage.files.change({ level: 'error' });
    await stage.clock.advance(1_000);
    expect([stage.files.loads, stage.level]).toEqual([0, 'info']);
    await stage.clock.advance(1_000);
    expect([stage.files.loads, stage.level]).toEqual([1, 'error']);
    await stage.clock.advance(60_000);
    expect(stage.files.loads).toBe(1);
  });

  it.each<[how: string, taken: (stage: Stage) => Promise<void>]>([
    ['by looking, an hour later,', ({ clock }) => clock.advance(3_602_000)],
    ['on a wish', ({ reloader }) => reloader.reload()],
  ])('looks at the new pace as soon as it was taken %s, and at no other', async (_how, taken) => {
    const stage = new Stage();
    stage.files.change({ everyMs: 3_600_000 });
    await stage.clock.advance(60_000);
    stage.files.change({ everyMs: 1_000 });
    await taken(stage);
    stage.files.change({ level: 'debug', everyMs: 1_000 });
    await stage.clock.advance(2_000);
    expect([stage.level, stage.clock.pendingTasks]).toEqual(['debug', 1]);
  });

  it('keeps the old configuration while the new one has a fault, says so, and once that it is right again', async () => {
    const stage = new Stage();
    const { lastReading } = stage.configuration;
    const fault = { path: 'http.port', problem: 'is wrong' };
    stage.files.change(new ConfigurationError([fault]));
    await stage.clock.advance(60_000);
    expect([stage.files.loads, stage.level]).toEqual([1, 'info']);
    const message = 'the changed configuration is not taken; the one before it stays in force';
    expect(stage.lines).toEqual([['error', { faults: [fault] }, message]]);
    const since = lastReading.refused?.since;
    expect(since).toBeDefined();
    await stage.reads(new ConfigurationError([fault, fault]));
    expect(lastReading.refused).toMatchObject({ since, faults: 2 });
    // What is read now changes nothing.
    for (const says of [{}, {}]) await stage.reads(says);
    expect(stage.told('info')).toEqual(['the changed configuration is in force']);
    expect(stage.told('debug')).toEqual(['the configuration was read again and says the same']);
    const refused = { action: 'configuration.change', outcome: 'refused', reason: 'configuration_invalid' };
    const load = { action: 'configuration.load', outcome: 'allowed', count: 0, added: 0, removed: 0 };
    expect(stage.records).toEqual([refused, refused, load]);
    expect([stage.outcomes, lastReading.refused]).toEqual([[false, false, true, true], undefined]);
  });

  it('records who and what changed, warns of merchants that are gone, and says nothing of a file that changes nothing', async () => {
    const stage = new Stage();
    await stage.reads({ merchants: ['shop', 'tickets', 'kiosk'], warnings: [{ path: 'x' }] });
    await stage.reads({ merchants: ['shop', 'tickets', 'kiosk'], warnings: [{ path: 'x' }] });
    expect(stage.told('warn')).toEqual(['configuration warning']);
    await stage.reads({ merchants: ['tickets', 'desk'], level: 'debug' });
    expect(stage.records.map(({ outcome: _, ...told }) => Object.values(told))).toEqual([
      ['configuration.load', 3, 3, 0],
      ['configuration.merchant_added', 'shop'],
      ['configuration.merchant_added', 'tickets'],
      ['configuration.merchant_added', 'kiosk'],
      ['configuration.load', 2, 1, 2],
      ['configuration.merchant_added', 'desk'],
      ['configuration.merchant_removed', 'shop'],
      ['configuration.merchant_removed', 'kiosk'],
      ['configuration.change', 'log.level'],
    ]);
    expect(stage.told('info')).toHaveLength(2);
    expect(stage.told('debug')).toEqual(['the configuration was read again and says the same']);
    expect(stage.lines.filter(([level]) => level === 'warn').slice(1)).toEqual([
      ['warn', { removed: 'shop, kiosk', count: 2 }, expect.stringMatching('gone from the configuration')],
    ]);
  });

  it('takes no file that lacks more merchants than may be removed, whatever that file allows', async () => {
    const stage = new Stage();
    await stage.reads({ merchants: ['a', 'b', 'c'], maxRemoved: 1 });
    stage.records.length = 0;
    await stage.reads({ merchants: ['a'], maxRemoved: 100 });
    expect(stage.configuration.current.merchants.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(stage.lines.filter(([level]) => level === 'error')).toEqual([
      [
        'error',
        {
          faults: [
            { path: 'merchants', problem: expect.stringMatching(/^lacks 2 of those in force, .* allows \(1\)/) },
          ],
        },
        'the changed configuration is not taken; the one before it stays in force',
      ],
    ]);
    expect(stage.records).toEqual([
      { action: 'configuration.change', outcome: 'refused', reason: 'configuration_invalid' },
    ]);
    await stage.reads({ merchants: ['a', 'b'], maxRemoved: 100 });
    await stage.reads({ merchants: ['x'], maxRemoved: 1 });
    expect(stage.configuration.current.merchants.map(({ id }) => id)).toEqual(['x']);
  });

  describe('with another certificate of the API', () => {
    const authority = new TestAuthority();
    const [start, day] = [Date.parse('2026-01-01T00:00:00.000Z'), 86_400_000];
    const valid = (fromDay: number, toDay: number): string =>
      authority.issue({
        names: ['broker'],
        notBefore: new Date(start + fromDay * day),
        notAfter: new Date(start + toDay * day),
      }).cert;
    const served = ({ configuration: { current } }: Stage): string | undefined => current.http.tls?.cert;

    it.each([
      ['has expired', valid(-30, -2), [{ path: 'http.tls.certFile', problem: 'names one that expired', line: 12 }]],
      ['is not valid yet', valid(1, 90), []],
    ])('goes on with the one in use where the other one %s, and says why', async (_what, cert, warnings) => {
      const good = valid(-1, 30);
      const stage = new Stage({ cert: good });
      await stage.reads({ cert, level: 'debug', warnings });
      expect([served(stage), stage.level, stage.outcomes]).toEqual([good, 'info', [false]]);
      const why = { path: 'http.tls.certFile', problem: expect.stringMatching(/expired|not valid before 2026-01-02T/) };
      expect(stage.lines).toEqual([
        ['error', { faults: [expect.objectContaining(why)] }, expect.stringMatching(/ is not taken; /)],
      ]);
    });

    it('takes one that has expired where the one in use has, too, with the warning that it brings', async () => {
      const [ended, other] = [valid(-30, -1), valid(-30, -2)];
      const stage = new Stage({ cert: ended });
      await stage.reads({ cert: other, warnings: [{ path: 'http.tls.certFile' }] });
      expect([served(stage), stage.outcomes, stage.told('warn')]).toEqual([other, [true], ['configuration warning']]);
    });
  });

  it('takes the rest where a setting waits for a restart, and says since when it waits, and once that it does not', async () => {
    const stage = new Stage();
    const { lastReading } = stage.configuration;
    await stage.reads({ port: 2, docs: false, level: 'debug' });
    const { awaitingSince } = lastReading;
    expect(awaitingSince).toBeDefined();
    await stage.reads({ docs: false, level: 'warn' });
    await stage.reads(new ConfigurationError([]));
    expect(lastReading).toMatchObject({ awaitingRestart: ['http.docs'], awaitingSince });
    for (const says of [{}, {}]) await stage.reads(says);
    expect([stage.level, stage.configuration.current.http.port]).toEqual(['info', 1]);
    const told = stage.lines.filter(([level]) => level !== 'debug').map(([level, fields]) => [level, fields]);
    const runbook = 'config-reload-failed';
    expect(told).toMatchObject([
      ['warn', { settings: 'log.level', awaitingRestart: 'http.port, http.docs', runbook }],
      ['info', { settings: 'log.level', awaitingRestart: 'http.docs' }],
      ['error', {}],
      ['info', { settings: 'log.level' }],
    ]);
    expect(told[3]?.[1]).not.toHaveProperty('awaitingRestart');
    expect(lastReading).toMatchObject({ awaitingRestart: [], awaitingSince: undefined });
  });

  it('reads at once when it is asked to, also where files are not looked at', async () => {
    const stage = new Stage();
    stage.files.change({ watch: false });
    await stage.reloader.reload();
    stage.files.change({ watch: false, level: 'debug' });
    await stage.clock.advance(60_000);
    expect(stage.level).toBe('info');
    await stage.reloader.reload();
    expect(stage.level).toBe('debug');
  });

  it('reads once more for a wish that comes while it reads', async () => {
    const stage = new Stage();
    const go = stage.files.holdUp();
    stage.files.change({ level: 'debug' });
    const first = stage.reloader.reload();
    stage.files.change({ level: 'error' });
    const second = stage.reloader.reload();
    go();
    await Promise.all([first, second]);
    expect([stage.files.loads, stage.level]).toEqual([2, 'error']);
  });

  it('does nothing after its end, not even with what it was reading', async () => {
    const stage = new Stage();
    const go = stage.files.holdUp();
    stage.files.change({ level: 'debug' });
    const reading = stage.reloader.reload();
    stage.reloader.close();
    go();
    await reading;
    await stage.clock.advance(60_000);
    expect([stage.level, stage.outcomes, stage.clock.pendingTasks]).toEqual(['info', [], 0]);
  });
});
