import { parseDurationMs } from '#libs/clock';
import { ConfigurationError } from './fault.js';
import { nearestName } from './check-settings.js';
import { parseConfiguration } from './load-configuration.js';

interface Examined {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
  readonly read?: object;
}

function examine(session: object): Examined {
  const merchant = {
    id: 'shop',
    serviceCode: '137d9304-0368-11ed-b939-0242ac120002',
    clientKeyFiles: ['shop.jwk.json'],
    gateway: { baseUrl: 'https://gateway.example' },
    session,
  };
  const written = ({ path, problem }: { path: string; problem: string }): string => `${path} ${problem}`;
  try {
    const configuration = { auth: { disabled: true }, merchants: [merchant] };
    const { warnings, merchants } = parseConfiguration(JSON.stringify(configuration), {});
    const { renewEveryMs, quietHours } = merchants[0]?.session ?? {};
    return { faults: [], warnings: warnings.map(written), read: { renewEveryMs, quietHours } };
  } catch (error) {
    if (error instanceof ConfigurationError) return { faults: error.faults.map(written), warnings: [] };
    throw error;
  }
}

const night = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };

describe('quiet hours and an age of renewal', () => {
  it.each([
    ['for a night', { quietHours: night }],
    ['over midnight', { quietHours: { ...night, from: '23:00', to: '01:00' } }],
    ['with the age that the issuer advises', { quietHours: night, renewEvery: '12h' }],
    ['with an age and a lead that is a share', { renewEvery: '8h', renewBefore: '20%' }],
  ])('are taken as they are %s', (_name, session) => {
    const { renewEvery, quietHours } = session as { renewEvery?: string; quietHours?: object };
    expect(examine(session)).toEqual({
      faults: [],
      warnings: [],
      read: { renewEveryMs: renewEvery && parseDurationMs(renewEvery), quietHours },
    });
  });

  const zoneFault = 'must be the name of a time zone, such as Europe/Kyiv (IANA)';
  it.each([
    [
      'a part is missing',
      { quietHours: { from: '03:00', to: '05:00' } },
      `quietHours.timeZone is missing: it ${zoneFault}`,
    ],
    [
      'a time is written in another form',
      { quietHours: { ...night, from: '3:00' } },
      'quietHours.from must be a time of day from 00:00 to 23:59, in quotes',
    ],
    [
      'they have no length',
      { quietHours: { ...night, to: '03:00' } },
      'quietHours.to must not be the same time as from',
    ],
    [
      'the zone does not look like one',
      { quietHours: { ...night, timeZone: 'secret-of-mine' } },
      `quietHours.timeZone ${zoneFault}`,
    ],
    ['the zone is an offset', { quietHours: { ...night, timeZone: '+02:00' } }, `quietHours.timeZone ${zoneFault}`],
    [
      'the age is less than twice the lead',
      { renewEvery: '15m', renewBefore: '8m' },
      'renewEvery must be at least twice renewBefore (two gateway timeouts by default); raise it, or shorten renewBefore',
    ],
  ])('are refused when %s', (_name, session, fault) => {
    expect(examine(session).faults).toEqual([`merchants[0].session.${fault}`]);
  });
});

describe('the name that was meant', () => {
  const names = ['Europe/Kyiv', 'Europe/Rome', 'America/Argentina/La_Rioja'];

  it.each([
    ['europe/kyv', 'Europe/Kyiv'],
    ['Europe/Roma', 'Europe/Rome'],
    ['america/argentina/la rioja', 'America/Argentina/La_Rioja'],
    ['Europe/Paris', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('%.20s is %s', (text, expected) => {
    expect(nearestName(text, names)).toBe(expected);
  });
});
