import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import type { EgressClient } from '#libs/configuration';
import type { ClientKey, PublicJwk } from '#libs/jwe';
import { FakeClock } from '#libs/testing';
import { type AliasParty, anAliasKey, anAliasParty, sealTo, SERVICE_CODE } from './alias-fixtures.js';
import { type AliasAnswer, AliasSessions } from './alias-sessions.js';

interface SessionMembers {
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken: string;
  readonly serverPublic: PublicJwk;
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const REQUEST_ID = 'request-1';

const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('an alias session', () => {
  let party: AliasParty;
  let key: ClientKey;
  let sessions: AliasSessions;
  const clock = new FakeClock('2026-03-18T12:34:52.998Z');

  const withKeys = (keys: readonly ClientKey[], ...clients: readonly EgressClient[]): Promise<AliasSessions> =>
    AliasSessions.create({ clients, keys, clock });
  const create = (of: AliasSessions, body: unknown, query = ''): Promise<AliasAnswer> =>
    of.create({ body: bytes(body), query: new URLSearchParams(query) }, REQUEST_ID);
  const given = async (of: AliasSessions, to: AliasParty): Promise<SessionMembers> => {
    const { body } = await create(of, { serviceCode: to.client.alias?.serviceCode });
    return JSON.parse(await to.openText(body)) as SessionMembers;
  };

  beforeAll(async () => {
    [party, key] = await Promise.all([anAliasParty(), anAliasKey()]);
    sessions = await withKeys([key], party.client);
  });

  describe('as it is given', () => {
    it('has the full form, with its end in 24 hours under all three names', async () => {
      const { status, body, client } = await create(sessions, { serviceCode: SERVICE_CODE });
      expect([status, client, Object.keys(JSON.parse(body) as object)]).toEqual([200, 'shop', ['jwe']]);
      const uuid: unknown = expect.stringMatching(UUID_V4);
      expect(JSON.parse(await party.openText(body))).toEqual({
        authToken: uuid,
        deviceId: uuid,
        refreshToken: uuid,
        serverPublic: { kty: 'EC', crv: 'P-384', x: expect.any(String) as string, y: expect.any(String) as string },
        tokenExpirationDateTime: '2026-03-19 12:34:52.0000 +0000',
        tokenExpiration: '2026-03-19 12:34:52.000+00:00',
        sessionExpiration: '2026-03-19 12:34:52.000+00:00',
      });
    });

    it.each([
      ['in the body, among members that are not known', { serviceCode: SERVICE_CODE, jwe: 'x', a: [] }, ''],
      ['in the query, with an empty body', '', `serviceCode=${SERVICE_CODE}`],
      ['in the query, with an object without it', {}, `serviceCode=${SERVICE_CODE}&lang=uk`],
      ['in both, the same', { serviceCode: SERVICE_CODE.toUpperCase() }, `serviceCode=${SERVICE_CODE}`],
    ])('comes for a serviceCode %s', async (_case, body, query) => {
      expect(await create(sessions, body, query)).toMatchObject({ status: 200, client: 'shop' });
    });
  });

  describe('that is refused', () => {
    const other = randomUUID();
    const cases: readonly (readonly [string, unknown, string, number, string])[] = [
      ['an alias that nobody has', { serviceCode: other }, '', 200, 'b_merchant_not_found'],
      ['no serviceCode', {}, '', 200, 'b_invalid_request'],
      ['a serviceCode that is no UUID', { serviceCode: 'shop' }, '', 200, 'b_invalid_request'],
      ['a serviceCode that is no text', { serviceCode: [SERVICE_CODE] }, '', 200, 'b_invalid_request'],
      ['a body that is not JSON', `serviceCode=${SERVICE_CODE}`, '', 400, 'b_error_parse_json'],
      ['a body that is a list', [SERVICE_CODE], '', 400, 'b_request_is_not_correct'],
      ['a body that is null', null, `serviceCode=${SERVICE_CODE}`, 400, 'b_request_is_not_correct'],
      ['a body that is a text', JSON.stringify(SERVICE_CODE), '', 400, 'b_request_is_not_correct'],
      [
        'another one in the query',
        { serviceCode: SERVICE_CODE },
        `serviceCode=${other}`,
        400,
        'b_request_is_not_correct',
      ],
      [
        'no text in the body and one in the query',
        { serviceCode: 7 },
        `serviceCode=${SERVICE_CODE}`,
        400,
        'b_request_is_not_correct',
      ],
      ['two in the query', '', `serviceCode=${SERVICE_CODE}&serviceCode=${other}`, 400, 'b_request_is_not_correct'],
    ];

    it.each(cases)('for %s, in the form of the gateway', async (...[, body, query, status, msgCode]) => {
      const answer = await create(sessions, body, query);
      expect([answer.status, answer.client]).toEqual([status, undefined]);
      expect(JSON.parse(answer.body)).toEqual({
        requestId: REQUEST_ID,
        serviceId: 'session-egress',
        msgCode,
        msgType: msgCode === 'b_invalid_request' ? 'VALIDATION_ERROR' : 'ERROR',
        msgText: expect.any(String) as unknown,
        isLocalized: false,
        msgAttrs: {},
        errorCauses: [],
      });
    });

    it('repeats nothing of what was sent', async () => {
      await fc.assert(
        fc.asyncProperty(fc.string({ minLength: 8 }), async (secret) => {
          const bodies = [secret, { serviceCode: secret }, [secret], { [secret]: secret }];
          const answers = await Promise.all(bodies.map((body) => create(sessions, body, `serviceCode=${other}`)));
          for (const { body } of answers) expect(body).not.toContain(JSON.stringify(secret).slice(1, -1));
        }),
      );
    });
  });

  describe('as it is known again', () => {
    it('is found by both of its headers, not by one of them, nor with anything else in their place', async () => {
      const { authToken, deviceId, refreshToken } = await given(sessions, party);
      const wrong = ['', authToken, SERVICE_CODE, deviceId, refreshToken, `${refreshToken} `, randomUUID()];
      const pairs = wrong.flatMap((one) => wrong.map((two) => [one, two] as const));
      const found = pairs.filter(([one, two]) => sessions.find(one, two) !== undefined);
      expect(found).toEqual([[deviceId, refreshToken]]);
    });

    it('is the same from every replica, whether the alias is configured in capitals or not', async () => {
      const loud = await anAliasParty({ serviceCode: SERVICE_CODE.toUpperCase() });
      const ofAnother = await given(await withKeys([key], loud.client), loud);
      expect(sessions.find(ofAnother.deviceId, ofAnother.refreshToken)).toBe(party.client);
      expect(ofAnother).toEqual(await given(sessions, party));
    });

    it('has no credential in common with that of another name, merchant, alias or key', async () => {
      const others = await Promise.all([
        anAliasParty({ name: 'shop2' }),
        anAliasParty({ merchant: 'shop2' }),
        anAliasParty({ serviceCode: randomUUID() }),
      ]);
      const elsewhere = await Promise.all(
        others.map(async (other) => given(await withKeys([key], other.client), other)),
      );
      const rekeyed = await given(await withKeys([await anAliasKey()], party.client), party);
      const credentials = [await given(sessions, party), rekeyed, ...elsewhere].flatMap((session) => [
        session.authToken,
        session.deviceId,
        session.refreshToken,
      ]);
      expect(new Set(credentials).size).toBe(15);
    });

    it('finds its own client alone, and nobody with the halves of two', async () => {
      const other = await anAliasParty({ name: 'till', serviceCode: randomUUID() });
      const both = await withKeys([key], party.client, other.client);
      const [ours, theirs] = [await given(both, party), await given(both, other)];
      expect(both.find(ours.deviceId, ours.refreshToken)).toBe(party.client);
      expect(both.find(theirs.deviceId, theirs.refreshToken)).toBe(other.client);
      expect(both.find(ours.deviceId, theirs.refreshToken)).toBeUndefined();
      expect(both.find(theirs.deviceId, ours.refreshToken)).toBeUndefined();
    });
  });

  describe('when the key is replaced', () => {
    it('is still known and opened, while new ones are made with the newer key', async () => {
      const newer = await anAliasKey();
      const before = await given(sessions, party);
      const rotated = await withKeys([newer, key], party.client);
      const after = await given(rotated, party);
      expect(after.serverPublic).not.toEqual(before.serverPublic);
      expect(after.deviceId).not.toBe(before.deviceId);
      for (const { deviceId, refreshToken, serverPublic } of [before, after]) {
        expect(rotated.find(deviceId, refreshToken)).toBe(party.client);
        const opened = await rotated.open(party.client, await sealTo(serverPublic, '{"coinAmount":100}'));
        expect(Buffer.from(opened).toString()).toBe('{"coinAmount":100}');
      }
      expect(rotated.find(before.deviceId, after.refreshToken)).toBeUndefined();
    });

    it('ends with the key', async () => {
      const before = await given(sessions, party);
      const later = await withKeys([await anAliasKey()], party.client);
      expect(later.find(before.deviceId, before.refreshToken)).toBeUndefined();
      await expect(later.open(party.client, await sealTo(before.serverPublic, 'x'))).rejects.toMatchObject({
        code: 'jwe_not_opened',
      });
    });

    it('ends with the alias', async () => {
      const { deviceId, refreshToken } = await given(sessions, party);
      const { alias: _, ...plain } = party.client;
      const without = await withKeys([key], plain);
      expect(without.find(deviceId, refreshToken)).toBeUndefined();
      expect(JSON.parse((await create(without, { serviceCode: SERVICE_CODE })).body)).toMatchObject({
        msgCode: 'b_merchant_not_found',
      });
    });
  });

  it('opens a body of 64 KiB, and none that is a good deal longer', async () => {
    const { serverPublic } = await given(sessions, party);
    const longest = 'x'.repeat(65_536);
    expect(Buffer.from(await sessions.open(party.client, await sealTo(serverPublic, longest))).toString()).toBe(
      longest,
    );
    const longer = await sealTo(serverPublic, longest.repeat(2));
    await expect(sessions.open(party.client, longer)).rejects.toMatchObject({ code: 'jwe_too_large' });
  });

  it('has an answer sealed to the key of its client, longer than a body may be: the bank has given it already', async () => {
    const answer = 'x'.repeat(200_000);
    expect(await party.openText(await sessions.seal(party.client, bytes(answer)))).toBe(answer);
  });

  it('opens no body that was sealed for another client, or to the key that all of them are made from', async () => {
    const other = await anAliasParty({ name: 'till', serviceCode: randomUUID() });
    const both = await withKeys([key], party.client, other.client);
    const { serverPublic } = await given(both, other);
    const sealed = await sealTo(serverPublic, 'x');
    expect(Buffer.from(await both.open(other.client, sealed)).toString()).toBe('x');
    for (const jwe of [sealed, await sealTo(key.publicJwk, 'x')])
      await expect(both.open(party.client, jwe)).rejects.toMatchObject({ code: 'jwe_not_opened' });
  });

  it('opens no body that is no JWE', async () => {
    await expect(sessions.open(party.client, '{"coinAmount":100}')).rejects.toMatchObject({ code: 'jwe_malformed' });
  });

  it('shows no secret when it is printed', async () => {
    const { authToken, deviceId, refreshToken } = await given(sessions, party);
    const printed = JSON.stringify(sessions) + inspect(sessions, { depth: 9, showHidden: true });
    for (const secret of [authToken, deviceId, refreshToken, SERVICE_CODE]) expect(printed).not.toContain(secret);
  });

  it('needs no key where nobody has an alias', async () => {
    const nobody = await withKeys([]);
    expect(await create(nobody, { serviceCode: SERVICE_CODE })).toMatchObject({ status: 200, client: undefined });
  });
});
