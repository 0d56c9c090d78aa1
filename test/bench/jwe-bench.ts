import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { generateClientKey, importClientKey, importServerKey, openJwe, sealJwe } from '#libs/jwe';
import type { BenchLine } from './bench-line.js';
import { inTurns, type Pace, paceInLanes } from './rounds.js';

const PLAINTEXT = Buffer.alloc(512, 'x');
const IN_FLIGHT = 8;
const ROUNDS = 15;
const RUNS_PER_ROUND = 200;
const SEALING = 'P-384 key pair + ECDH in node:crypto, with the same concurrency';
const CPU = '1/s of a processor';
const OPENING = 'epk import + ECDH in node:crypto, with the same concurrency';

const newPair = promisify(generateKeyPair);
const agree = promisify(diffieHellman);

interface Operations {
  readonly seal: () => Promise<unknown>;
  readonly open: () => Promise<unknown>;
  /** The least that sealing needs: a new key pair and one key agreement. */
  readonly bareSeal: () => Promise<unknown>;
  /** The least that opening needs: reading the ephemeral key and one key agreement. */
  readonly bareOpen: () => Promise<unknown>;
}

/**
 * Sealing and opening compared with the elliptic-curve operations in them, done by node:crypto with the same
 * concurrency.
 */
export async function benchJwe(): Promise<readonly BenchLine[]> {
  const { seal, open, bareSeal, bareOpen } = await operations();
  const at = (run: () => Promise<unknown>, inFlight: number) => () => paceInLanes(RUNS_PER_ROUND, inFlight, run);
  const paces = await inTurns(ROUNDS, {
    bareSeal: at(bareSeal, IN_FLIGHT),
    seal: at(seal, IN_FLIGHT),
    bareSealAlone: at(bareSeal, 1),
    sealAlone: at(seal, 1),
    bareOpenAlone: at(bareOpen, 1),
    openAlone: at(open, 1),
    bareOpen: at(bareOpen, IN_FLIGHT),
    open: at(open, IN_FLIGHT),
  });
  const line = (name: string, sides: readonly [readonly Pace[], readonly Pace[]], goal: Goal): BenchLine => {
    const { what, unit = '1/s', ...least } = goal;
    const [values = [], bare = []] = sides.map((rounds) =>
      rounds.map(({ perSecond, perCpuSecond }) => (unit === CPU ? perCpuSecond : perSecond)),
    );
    return { name: `JWE ${name}`, unit, values, beside: { what, values: bare }, ...least };
  };
  const { seal: sealed, bareSeal: bareSealed, open: opened, bareOpen: bareOpened } = paces;
  return [
    line('seal, 8 in flight', [sealed, bareSealed], { what: SEALING, least: 0.85 }),
    line('seal', [sealed, bareSealed], { what: SEALING, least: 0.9, unit: CPU }),
    line('seal, one at a time', [paces.sealAlone, paces.bareSealAlone], { what: SEALING }),
    line('open, one at a time', [paces.openAlone, paces.bareOpenAlone], { what: OPENING, least: 0.7 }),
    line('open, 8 in flight', [opened, bareOpened], { what: OPENING, least: 0.7 }),
    line('open', [opened, bareOpened], { what: OPENING, least: 0.85, unit: CPU }),
  ];
}

interface Goal {
  readonly what: string;
  readonly unit?: string;
  readonly least?: number;
}

async function operations(): Promise<Operations> {
  const { privateJwk, publicJwk } = await generateClientKey();
  const clientKey = await importClientKey(privateJwk);
  const recipient = await importServerKey(publicJwk);
  const privateKey = createPrivateKey({ key: privateJwk, format: 'jwk' });
  const publicKey = createPublicKey({ key: publicJwk, format: 'jwk' });
  const jwe = await sealJwe(PLAINTEXT, recipient);
  const epk = ephemeralKeyOf(jwe);
  return {
    seal: () => sealJwe(PLAINTEXT, recipient),
    open: () => openJwe(jwe, [clientKey]),
    bareSeal: async () => agree({ privateKey: (await newPair('ec', { namedCurve: 'P-384' })).privateKey, publicKey }),
    bareOpen: () => agree({ privateKey, publicKey: readKey(epk) }),
  };
}

function ephemeralKeyOf(jwe: string): Record<string, string> {
  const header = JSON.parse(Buffer.from(jwe.split('.')[0] ?? '', 'base64url').toString()) as {
    epk: Record<string, string>;
  };
  return header.epk;
}

const readKey = (key: Record<string, string>): KeyObject => createPublicKey({ key, format: 'jwk' });
