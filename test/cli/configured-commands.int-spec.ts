import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { generateClientKey, importPaymentKey, sealJwe } from '#libs/jwe';
import { endedAfterEach, LoopbackServer } from '#libs/testing';
import { exitCodes } from '../../apps/cli/src/exit-codes.js';
import { Examined, SERVICE_CODE } from './examined.js';

describe('cli commands that read a configuration', () => {
  let examined: Examined;
  let folder: string;
  let gateway: LoopbackServer;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let calls: string[];
  let out: string[];
  let err: string[];
  let environment: Record<string, string>;

  const cli = async (...args: string[]): Promise<number> => {
    examined.environment = { SERVICE: SERVICE_CODE, ...environment };
    const { code } = await examined.cli(...args);
    ({ out, err } = examined);
    return code;
  };
  const config = (): string => examined.config;
  const json = (): Record<string, unknown> => JSON.parse(out.join('\n')) as Record<string, unknown>;

  const writeConfig = async (change: (yaml: string) => string = (yaml) => yaml): Promise<void> => {
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${gateway.port}`, serviceCode: '"${SERVICE}"' }]);
    await examined.write('broker.yaml', change(await readFile(config(), 'utf8')));
  };

  const started = endedAfterEach();
  beforeEach(async () => {
    examined = started.add(await Examined.create(), (it) => it.remove());
    ({ folder } = examined);
    [calls, environment] = [[], {}];
    const server = LoopbackServer.http((request, response) => {
      calls.push(`${request.method} ${request.url}`);
      answer(request, response);
    });
    gateway = started.add(await server, (it) => it.close());
    await writeConfig();
  });

  describe('config check', () => {
    it('says that a configuration is valid, and which program it is of', async () => {
      expect(await cli('config', 'check', config())).toBe(exitCodes.ok);
      expect(out).toEqual([`${config()} is valid`]);
      expect(await cli('config', 'check', config(), '--json')).toBe(exitCodes.ok);
      expect(json()).toMatchObject({ ok: true, kind: 'broker' });
    });

    describe('without the secrets of the environment', () => {
      const withVariable = (yaml: string): string => yaml.replace(/serviceCode: .*/, 'serviceCode: "${SHOP_CODE}"');

      it('looks at the rest, says what it has not looked at, and ends with the code for that', async () => {
        await writeConfig(withVariable);
        expect(await cli('config', 'check', config())).toBe(exitCodes.incomplete);
        expect(out.join('\n').split('\n')).toEqual([
          `${config()}: the structure is right; not checked:`,
          '  merchants[0].serviceCode (line 8): the environment variable SHOP_CODE is not set',
          'set the variables as for the process itself; on a machine without secrets, --structure checks the rest',
        ]);
        expect(await cli('config', 'check', config(), '--json')).toBe(exitCodes.incomplete);
        expect(json()).toMatchObject({
          unset: [{ path: 'merchants[0].serviceCode', line: 8, variable: 'SHOP_CODE' }],
        });
      });

      it('finds what is wrong all the same, in settings and in files, beside every variable, each with its line', async () => {
        await writeConfig((yaml) =>
          withVariable(yaml).replace('port: 8080', 'port: many, tls: { certFile: "${A}/${B}", keyFile: tls.key }'),
        );
        await rm(join(folder, 'client.json'));
        expect(await cli('config', 'check', config())).toBe(exitCodes.invalidInput);
        expect(err).toEqual([
          expect.stringMatching(/^error: /),
          '  http.port (line 1): must be a whole number from 0 to 65535, without quotes',
          '  http.tls.certFile (line 1): needs the environment variables A, B, which are not set',
          '  http.tls.keyFile (line 1): names a file that does not exist; check the path; relative paths begin at ' +
            folder,
          '  merchants[0].serviceCode (line 8): needs the environment variable SHOP_CODE, which is not set',
          '  merchants[0].clientKeyFiles[0] (line 9): names a file that does not exist; check the path; relative paths begin at ' +
            folder,
        ]);
        expect(await cli('config', 'check', config(), '--json')).toBe(exitCodes.invalidInput);
        expect(json()).toMatchObject({ error: { faults: [{ path: 'http.port', line: 1 }, {}, {}, {}, {}] } });
      });

      it('needs no file either for the structure alone, and is done then', async () => {
        await writeConfig(withVariable);
        await rm(join(folder, 'client.json'));
        expect(await cli('config', 'check', '--structure', config())).toBe(exitCodes.ok);
        expect(out.join('\n')).toContain('  merchants[0].clientKeyFiles[0]: a secret file, not read');
      });
    });

    it('repeats nothing that may be a secret in the place of a path, to whomever', async () => {
      const secret = 'Zk7canaryQ0123456789';
      answer = (_request, response) => void response.end();
      await writeConfig((yaml) => yaml.replace('[client.json]', `[${secret}]`));
      for (const command of [
        ['config', 'check', config()],
        ['doctor', '--config', config()],
        ['doctor', '--json', '--config', config()],
      ]) {
        expect(await cli(...command)).toBe(exitCodes.invalidInput);
        expect([...out, ...err].join('\n')).toContain(`relative paths begin at ${folder}`);
        expect([...out, ...err].join('\n')).not.toContain('canary');
      }
      for (const option of ['--token-file', '--ca-file']) {
        expect(await cli('status', '--url', 'http://127.0.0.1:9', option, secret)).toBe(exitCodes.invalidInput);
        expect(err.join('\n')).toContain(`does not exist; check the path; relative paths begin at ${process.cwd()}`);
        expect(err.join('\n')).not.toContain('canary');
      }
    });

    it.each([
      ['config check', ['config', 'check'], []],
      ['doctor', ['doctor'], []],
      ['simulate', ['simulate'], ['--for', '1h']],
      ['session create', ['session', 'create'], ['--merchant', 'none']],
    ])('takes the file behind the command or with an option, and not with both: %s', async (_name, verb, options) => {
      answer = (_request, response) => void response.writeHead(405).end();
      const plain = (): string => [...out, ...err].join('\n').replace(/\d+ (?:ms|MiB)/g, '');
      const asOption = [await cli(...verb, '--config', config(), ...options), plain()];
      expect(asOption[0]).not.toBe(exitCodes.usage);
      expect([await cli(...verb, config(), ...options), plain()]).toEqual(asOption);
      environment = { BROKER_CONFIG: join(folder, 'nowhere') };
      expect([await cli(...verb, config(), ...options), plain()]).toEqual(asOption);
      expect(await cli(...verb, config(), '--config', config(), ...options)).toBe(exitCodes.usage);
      expect(err.at(-1)).toBe('error: name the file once: after the command, or with --config');
      environment = { BROKER_CONFIG: '' };
      expect(await cli(...verb, ...options)).toBe(exitCodes.usage);
      expect(err.at(-1)).toContain('BROKER_CONFIG');
    });

    it('takes the file from BROKER_CONFIG when none is named, and says so when there is neither', async () => {
      expect(await cli('config', 'check')).toBe(exitCodes.usage);
      expect(err.join('\n')).toContain('BROKER_CONFIG');
      environment = { BROKER_CONFIG: config() };
      expect(await cli('config', 'check')).toBe(exitCodes.ok);
      expect(await cli('simulate', '--for', '1h', '--json')).toBe(exitCodes.ok);
    });

    it('knows the configuration of an egress by its root member', async () => {
      const egress = join(folder, 'egress.yaml');
      await writeFile(
        egress,
        `
egress:
  broker: { url: "http://127.0.0.1:8080" }
  gateway: { baseUrl: "https://gateway.example" }
  clients:
    - { name: checkout, merchant: shop, token: { sha256: ${'ab'.repeat(32)} } }
`,
      );
      expect(await cli('config', 'check', egress)).toBe(exitCodes.ok);
      expect([out, err]).toEqual([[`${egress} is valid`], []]);
      expect(await cli('config', 'check', egress, '--json')).toBe(exitCodes.ok);
      expect(json()).toMatchObject({ ok: true, kind: 'egress' });
    });

    it('tells below the faults what else should be mended', async () => {
      const auth = `{ tokens: [{ caller: till, sha256: ${'ab'.repeat(32)} }], policies: [{ caller: till, merchants: [shop], allow: [session:read] }] }`;
      await writeConfig((yaml) =>
        yaml.replace('host: 127.0.0.1', 'host: 0.0.0.0').replace('{ disabled: true }', auth).replace('memory', 'disk'),
      );
      await chmod(join(folder, 'client.json'), 0o644);
      await chmod(folder, 0o755);
      expect(await cli('config', 'check', config())).toBe(exitCodes.invalidInput);
      expect(err.map((line) => /^(?:warning: | {2})?[\w.[\]]+/.exec(line)?.[0])).toEqual([
        'error',
        '  store.type',
        'warning: http.tls',
        'warning: merchants[0].clientKeyFiles[0]',
      ]);
      expect(await cli('config', 'check', config(), '--json')).toBe(exitCodes.invalidInput);
      const { error, warnings } = json() as { error: { faults: object[] }; warnings: string[] };
      expect(error.faults).toEqual([expect.objectContaining({ path: 'store.type' })]);
      expect(warnings).toEqual([
        expect.stringMatching(/^http\.tls \(line \d+\): is missing/),
        expect.stringContaining('merchants[0].clientKeyFiles[0]'),
      ]);
    });
  });

  describe('session create', () => {
    const secrets = {
      authToken: '0b7ad9ab-11f5-4e8d-b2b5-2a4a35a6c001',
      deviceId: '0b7ad9ab-11f5-4e8d-b2b5-2a4a35a6c002',
      refreshToken: '0b7ad9ab-11f5-4e8d-b2b5-2a4a35a6c003',
    };
    const create = (...more: string[]): Promise<number> =>
      cli('session', 'create', '--config', config(), '--merchant', 'shop', ...more);
    const anyText = (): string => [...out, ...err].join('\n');

    beforeEach(async () => {
      const recipient = await importPaymentKey(examined.key.publicJwk);
      const { kty, crv, x, y } = (await generateClientKey()).publicJwk;
      const plaintext = {
        ...secrets,
        serverPublic: { kty, crv, x, y },
        tokenExpiration: '2099-02-27 14:12:34.430+02:00',
      };
      const jwe = await sealJwe(Buffer.from(JSON.stringify(plaintext)), recipient);
      answer = (_request, response) => void response.end(JSON.stringify({ jwe }));
    });

    it('makes one call and shows expiry and keys, and no secret', async () => {
      expect(await create()).toBe(exitCodes.ok);
      expect(calls).toEqual(['POST /api-gateway/authorize_virtual_device']);
      expect(out.join('\n')).toContain('2099-02-27T12:12:34.430Z');
      expect(out.join('\n')).toContain(examined.key.thumbprint);
      expect(err.join('\n')).toMatch(/warning: a new session can end/);
      for (const secret of Object.values(secrets)) expect(anyText()).not.toContain(secret);
    });

    it('shows the tokens to those who ask for them', async () => {
      expect(await create('--show-secrets', '--json')).toBe(exitCodes.ok);
      expect(json()).toMatchObject({ merchant: 'shop', secrets });
      expect(await create('--json')).toBe(exitCodes.ok);
      expect(json()).not.toHaveProperty('secrets');
    });

    it('calls no production gateway without --yes', async () => {
      const production = (yaml: string): string =>
        yaml.replace('environment: test', 'environment: production').replace('http://', 'https://');
      await writeConfig(production);
      expect(await create()).toBe(exitCodes.invalidInput);
      expect(err.join('\n')).toContain('--yes');
      expect(gateway.connections).toBe(0);
      expect(await create('--yes')).toBe(exitCodes.invalidInput);
      expect(gateway.connections).toBe(1);
    });

    it.each([
      ['overloaded', 503, { msgCode: 'b_server_is_overloaded' }, exitCodes.tryLater],
      ['not a session', 200, { jwe: 'a.b.c.d.e' }, exitCodes.invalidAnswer],
    ])('shows by its exit code: %s', async (...[, status, body, code]) => {
      answer = (_request, response) => void response.writeHead(status).end(JSON.stringify(body));
      expect(await create()).toBe(code);
      expect(err.join('\n')).toMatch(/^error: /);
      expect(calls).toHaveLength(1);
    });

    it("says once what happened, with the bank's code and request id", async () => {
      const body = { msgCode: 'b_merchant_not_found', msgType: 'ERROR', requestId: 'request-7' };
      answer = (_request, response) => void response.end(JSON.stringify(body));
      expect(await create()).toBe(exitCodes.refused);
      expect([...out, ...err]).toEqual(['error: the bank refuses: b_merchant_not_found [HTTP 200, request request-7]']);
      await create('--json');
      expect(json()).toMatchObject({
        ok: false,
        error: { code: 'gateway_refused', msgCode: 'b_merchant_not_found', httpStatus: 200, requestId: 'request-7' },
      });
    });

    it('says of an address that is wrong which one was asked', async () => {
      await writeConfig((yaml) => yaml.replace(`${gateway.port}"`, `${gateway.port}/session"`));
      answer = (_request, response) => void response.writeHead(404).end('{"message":"no route"}');
      expect(await create()).toBe(exitCodes.invalidInput);
      expect(err[0]).toMatch(/^error: gateway\.baseUrl is probably wrong: it takes no create calls \(HTTP 404\)/);
      const asked = `http://127.0.0.1:${gateway.port}/session/api-gateway/authorize_virtual_device`;
      expect(err[0]).toContain(
        `; compare gateway.baseUrl with the address that the bank has given: this call went to ${asked}`,
      );
      answer = (_request, response) => void response.writeHead(401).end('{}');
      expect(await create()).not.toBe(exitCodes.ok);
      expect(err[0]).toContain('; what answers does not look like the gateway');
    });
  });
});
