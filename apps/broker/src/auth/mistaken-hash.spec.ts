import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { BrokerConfiguration } from '#libs/configuration';
import type { Logger } from '#libs/telemetry';
import { FakeClock } from '#libs/testing';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { Authenticator } from './authenticator.service.js';

describe('a token that was configured in the place of its hash', () => {
  const token = randomBytes(32).toString('hex');
  const other = randomBytes(32).toString('hex');
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  let told: { fields: object; message: string }[];
  let configuration: ConfigurationInForce;
  let authenticator: Authenticator;

  const configured = (...tokens: readonly (readonly [caller: string, sha256: string])[]): BrokerConfiguration => {
    const listed = tokens.map(([caller, sha256]) => ({ caller, sha256 }));
    return {
      auth: { disabled: false, tokens: listed, policies: [], mtls: false },
      http: {},
    } as unknown as BrokerConfiguration;
  };
  const present = (presented: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${presented}` };
    return authenticator.authenticate({ headers } as IncomingMessage);
  };
  const refused = async (presented: string): Promise<void> => {
    await expect(present(presented)).rejects.toMatchObject({ refusal: 'unknown_token' });
  };

  beforeEach(() => {
    told = [];
    configuration = new ConfigurationInForce(configured(['till', hashOf(other)], ['checkout', token]));
    const logger = { warn: (fields: object, message: string) => told.push({ fields, message }) } as unknown as Logger;
    authenticator = new Authenticator(configuration, new FakeClock(), logger);
  });

  it('is refused, and the log names the setting and what to do, without the token', async () => {
    await refused(token);
    expect(told).toEqual([
      {
        fields: { setting: 'auth.tokens[1].sha256', caller: 'checkout' },
        message: expect.stringMatching(/make a new one, since it stood in the file, write the hash of that there/),
      },
    ]);
    expect(JSON.stringify(told)).not.toContain(token);
  });

  it('is told also where it was written in other letters', async () => {
    await refused(token.toUpperCase());
    expect(told).toHaveLength(1);
  });

  it('is told once for each caller, and once again after a change', async () => {
    await refused(token);
    await refused(token);
    expect(told).toHaveLength(1);
    configuration.replace(configured(['checkout', token], ['kiosk', other]));
    await refused(token);
    await refused(other);
    await refused(other);
    expect(told.slice(1).map(({ fields }) => fields)).toEqual([
      { setting: 'auth.tokens[0].sha256', caller: 'checkout' },
      { setting: 'auth.tokens[1].sha256', caller: 'kiosk' },
    ]);
  });

  it('is not told of a token whose hash is configured, nor of one that nobody has', async () => {
    await expect(present(other)).resolves.toEqual({ name: 'till' });
    await refused(randomBytes(32).toString('hex'));
    await refused('of-nobody');
    expect(told).toEqual([]);
  });
});
