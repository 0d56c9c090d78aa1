import { parseDurationMs } from '#libs/clock';
import { faults, merchant, parse, type Raw } from './configuration-fixtures.js';

const withSession = (session: Raw): Raw => ({ merchants: [merchant({ session })] });
const night = { from: '03:00', to: '05:00', timeZone: 'Europe/Kyiv' };

describe('quiet hours and an age of renewal', () => {
  it.each([
    ['for a night', { quietHours: night }],
    ['over midnight', { quietHours: { ...night, from: '23:00', to: '01:00' } }],
    ['with the age that the issuer advises', { quietHours: night, renewEvery: '12h' }],
    ['with an age and a lead that is a share', { renewEvery: '8h', renewBefore: '20%' }],
  ])('are taken as they are %s', (_name, session) => {
    const [shop] = parse(withSession(session)).merchants;
    const { renewEvery, quietHours } = session as { renewEvery?: string; quietHours?: object };
    expect([shop?.session.renewEveryMs, shop?.session.quietHours]).toEqual([
      renewEvery && parseDurationMs(renewEvery),
      quietHours,
    ]);
  });

  const zoneFault = 'must be the name of a time zone, such as Europe/Kyiv (IANA)';
  it.each([
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
    expect(faults(withSession(session))).toEqual([`merchants[0].session.${fault}`]);
  });
});
