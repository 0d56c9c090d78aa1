import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { aDocument, json, ScriptedBroker, type SeenRequest } from '../fixtures/scripted-broker.js';
import { SessionRejected } from './errors.js';
import { SessionBroker } from './session-broker.js';

interface Contract {
  readonly paths: Record<string, Record<string, { readonly operationId: string }>>;
  readonly components: {
    readonly schemas: Record<string, { readonly properties: object; readonly required: readonly string[] }>;
  };
}

const contract = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as Contract;

/** Formats only say how a string is meant; how the client handles them is covered by its own tests. */
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(contract, 'contract');

const faultsOf = (schema: string, value: unknown): unknown => {
  const validate = ajv.compile({ $ref: `contract#/components/schemas/${schema}` });
  return validate(value) ? [] : validate.errors;
};

const operationOf = ({ url, method }: SeenRequest): string | undefined => {
  const path = new URL(url).pathname.replace('/merchants/shop/', '/merchants/{merchant}/');
  return contract.paths[path]?.[method.toLowerCase()]?.operationId;
};

const bodyOf = ({ body }: SeenRequest): unknown => JSON.parse(body ?? '');

describe('the client and the contract', () => {
  const scripted = new ScriptedBroker();
  let client: SessionBroker;

  beforeEach(() => {
    scripted.requests.length = 0;
    scripted.on('read', () => json(aDocument({ generation: 1 })));
    scripted.streaming();
    client = new SessionBroker({ url: 'http://broker', merchant: 'shop', auth: 'token', fetch: scripted.fetch });
  });
  afterEach(() => client.close());

  it('have the same idea of a session: every member of the one is a member of the other', async () => {
    const { properties, required } = contract.components.schemas['SessionDocument']!;
    const { refreshToken: _, ...withoutOptional } = aDocument();
    const members = [...Object.keys(await client.session()), 'expiresInMs', 'renewInMs'];
    expect(members.sort()).toEqual(Object.keys(properties).sort());
    expect(Object.keys(withoutOptional).sort()).toEqual([...required].sort());
    expect(faultsOf('SessionDocument', aDocument())).toEqual([]);
    expect(faultsOf('SessionDocument', { ...aDocument(), generation: '1' })).not.toEqual([]);
  });

  it('know the same operations: all that the client calls is in the contract, with the body that it wants', async () => {
    const { generation } = await client.session();
    scripted.on('rejections', () => json(aDocument({ generation: 2 })));
    scripted.on('decrypt', () => json({ plaintext: 'YQ==', encoding: 'base64' }));
    let isFirst = true;
    await client.withSession(() => {
      if (!isFirst) return 'paid';
      isFirst = false;
      throw new SessionRejected('b_used_token');
    });
    await client.decrypt('a.b.c.d.e');
    const opened = { kind: 'direct_payment', sealed: true, content: {} };
    scripted.on('notification', () => json(opened));
    await client.openNotification({ headers: { 'x-encrypted_body': 'true' }, body: 'a.b.c.d.e' });
    const seen = scripted.requests.map((request) => operationOf(request));
    const called = ['getSession', 'followSession', 'rejectSession', 'decryptPayload', 'openNotification'];
    expect(new Set(seen)).toEqual(new Set(called));
    const [rejection] = scripted.seen('rejections');
    const [decryption] = scripted.seen('decrypt');
    expect(bodyOf(rejection!)).toEqual({ generation, reason: 'b_used_token' });
    expect(faultsOf('RejectionRequest', bodyOf(rejection!))).toEqual([]);
    expect(faultsOf('DecryptionRequest', bodyOf(decryption!))).toEqual([]);
    expect(faultsOf('DecryptionRequest', { jwe: 1 })).not.toEqual([]);
    const [notification] = scripted.seen('notification');
    expect(faultsOf('NotificationRequest', bodyOf(notification!))).toEqual([]);
    expect(faultsOf('NotificationDocument', opened)).toEqual([]);
  });
});
