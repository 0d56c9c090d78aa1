import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '#libs/testing';
import { checkConfiguration } from './check-configuration.js';
import { ConfigurationError } from './fault.js';
import { configurationKindOf } from './load-configuration.js';

const MERCHANT = `{ id: shop, serviceCode: 137d9304-0368-11ed-b939-0242ac120002, clientKeyFiles: [a.json], gateway: { baseUrl: 'https://gateway.example' } }`;
const merchant = (changes: readonly [RegExp, string]): string => MERCHANT.replace(...changes);
const EGRESS = `{ broker: { url: 'http://127.0.0.1:8080' }, gateway: { baseUrl: 'http://127.0.0.1:8081' }, clients: [{ name: shop, merchant: shop, token: { sha256: ${'ab'.repeat(32)} } }] }`;

describe('what a configuration file was meant to say', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'meant-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const errorOf = async (text: string): Promise<ConfigurationError> => {
    const file = join(folder, 'file.yaml');
    await writeFile(file, text);
    const found = await checkConfiguration(file, {
      environment: {},
      clock: new FakeClock(),
      readsFiles: false,
    }).catch((error: unknown) => error);
    if (found instanceof ConfigurationError) return found;
    throw new Error('there is no fault', { cause: found });
  };
  const faults = async (text: string): Promise<string[]> =>
    (await errorOf(text)).faults.map(({ path, problem }) => `${path} ${problem}`);

  it('is the file of an egress, where the one name at its top is nearly that', async () => {
    expect(await faults('egres: {}')).toEqual(['egres is not a setting; did you mean egress? known here: egress']);
    expect(await configurationKindOf(join(folder, 'file.yaml'), {})).toBe('egress');
    expect(await faults(`egres: {}\nmerchants: [${MERCHANT}]`)).toEqual([
      expect.stringMatching(/^egres is not a setting; known here: http, /),
    ]);
  });

  it('is not told as missing beside the misspelt name', async () => {
    expect(await faults(`merchant: [${MERCHANT}]`)).toEqual([
      expect.stringMatching(/^merchant is not a setting; did you mean merchants\?/),
    ]);
  });

  it.each([
    ['password: hunter2', 'password', 'write passwordFile, the name of a file that holds it;'],
    ['user: broker', 'user', 'did you mean username?'],
  ])('is the setting of a file, or the longer name: store.%s', async (written, name, said) => {
    const found = await faults(
      `store: { type: redis, url: 'redis://127.0.0.1:6379/0', ${written} }\nmerchants: [${MERCHANT}]`,
    );
    expect(found).toEqual([expect.stringContaining(`store.${name} is not a setting; ${said} known here: `)]);
  });

  it.each([
    ['clientKeyFiles: key.json', 'must be a sequence; write [key.json]'],
    ['clientKeyFiles: ./keys/shop', 'must be a sequence; write [./keys/shop]'],
    ['clientKeyFiles: hunter2', 'must be a sequence; put the value in brackets: [ … ]'],
    ['clientKeyFiles: 5', 'must be a sequence'],
  ])('is a sequence of one: %s', async (written, said) => {
    const found = await faults(`merchants: [${merchant([/clientKeyFiles: [^,]*/, written])}]`);
    expect(found).toEqual([`merchants[0].clientKeyFiles ${said}`]);
  });

  it('is a sequence of one permission, and of one merchant', async () => {
    const auth = `{ mtls: true, policies: [{ caller: a, merchants: shop, allow: session:read }] }`;
    const found = await faults(
      `auth: ${auth}\nhttp: { tls: { certFile: a, keyFile: b, clientCaFile: c } }\nmerchants: [${MERCHANT}]`,
    );
    expect(found).toEqual([
      'auth.policies[0].merchants must be a sequence; put the value in brackets: [ … ]',
      "auth.policies[0].allow must be a sequence; write ['session:read']",
    ]);
  });

  it.each([
    ['bank.example:8443', 'https://bank.example:8443'],
    ['bank.example/gateway', 'https://bank.example/gateway'],
    ['bank.example:8443/gateway/v1/', 'https://bank.example:8443/gateway/v1/'],
    ['localhost:8081', 'http://localhost:8081'],
    ['127.0.0.1:8081/x', 'http://127.0.0.1:8081/x'],
    ['10.1.2.3:8443', 'it with https:// in front'],
    ['bank:8443', 'it with https:// in front'],
    ['bank.example/QS7canary', 'it with https:// in front'],
  ])('is an address with http:// or https:// in front: %s', async (written, meant) => {
    const found = await faults(`merchants: [${merchant([/'https:[^']*'/, `'${written}'`])}]`);
    expect(found).toEqual([
      `merchants[0].gateway.baseUrl must be an http or https URL without user, query or fragment; write ${meant}`,
    ]);
  });

  it.each([
    ['/ecom/execute_request/', 'it without the slash at its end'],
    ['/ecom/**/', 'it without the slash at its end'],
    ['/ecom//pay', 'it with one slash for each //'],
    ['ecom/**', 'it with a slash in front'],
  ])('is a path with a slash too many or too few: %s', async (written, meant) => {
    const routes = `routes: [{ path: '${written}', body: clear }]`;
    const [found, ...others] = await faults(
      `egress: ${EGRESS.replace("8081'", "8081', environment: test").replace(/ }$/, `, ${routes} }`)}`,
    );
    expect(found).toMatch(/^egress\.routes\[0\]\.path must be a path such as /);
    expect(found?.endsWith(`; write ${meant}`)).toBe(true);
    expect(others).toEqual([]);
  });

  it('is told to be the default where nobody has written it: the environment of a gateway', async () => {
    expect(await faults(`egress: ${EGRESS}`)).toEqual([
      'egress.gateway.baseUrl must be https, because gateway.environment is production (the default); if this is a test gateway, set it to test',
    ]);
    expect(await faults(`egress: ${EGRESS.replace("8081'", "8081', environment: production")}`)).toEqual([
      'egress.gateway.baseUrl must be https, because gateway.environment is production',
    ]);
  });

  it('is looked at further once it can be: the error says whether all was', async () => {
    const more = async (text: string): Promise<boolean> => (await errorOf(text)).hasMore;
    expect(await more(`http: { port: 1 }\n  store: {}\nmerchants: [${MERCHANT}]`)).toBe(true);
    expect(await more(`stor: { type: redis }\nmerchants: [${MERCHANT}]`)).toBe(true);
    expect(await more(`merchants: [${merchant([/clientKeyFiles: [^,]*/, 'clientKeyFiles: key.json'])}]`)).toBe(true);
    expect(await more('store: redis')).toBe(true);
    expect(await more(`http: { port: many, tsl: yes }\nmerchants: [${MERCHANT}]`)).toBe(false);
  });

  it('is looked at in the merchants that are sound, whatever another one lacks', async () => {
    const sound = MERCHANT.replace("'https:", "'http:").replace('id: shop', 'id: kiosk');
    const [first, ...others] = await faults(
      `merchants: [${merchant([/clientKeyFiles: [^,]*/, 'clientKeyFiles: k.json'])}, ${sound}]`,
    );
    expect(first).toMatch(/^merchants\[0\]\.clientKeyFiles must be a sequence/);
    expect(others).toEqual([
      expect.stringMatching(/^merchants\[1\]\.serviceCode is already the serviceCode of merchants\[0\];/),
      expect.stringMatching(/^merchants\[1\]\.gateway\.baseUrl must be https/),
    ]);
  });
});
