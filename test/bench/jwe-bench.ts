import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { generateClientKey, importClientKey, importServerKey, openJwe, sealJwe } from '#libs/jwe';
import type { BenchLine } from './bench-line.js';
import { type Contender, throughputOf } from './throughput.js';

const PLAINTEXT = Buffer.alloc(512, 'x');
const IN_FLIGHT = 8;

const newPair = promisify(generateKeyPair);
const agree = promisify(diffieHellman);

interface Operations {
  readonly seal: () => Promise<unknown>;
  readonly open: () => Promise<unknown>;
  /** What a seal cannot do without: a new key pair and one agreement. */
  readonly bareSeal: () => Promise<unknown>;
  /** What an open cannot do without: reading the ephemeral key and one agreement. */
  readonly bareOpen: () => Promise<unknown>;
}

/** Seal and open beside the elliptic-curve operations in them, done by node:crypto with the same concurrency. */
export async function benchJwe(): Promise<readonly BenchLine[]> {
  const { seal, open, bareSeal, bareOpen } = await operations();
  const at = (run: Contender['run'], inFlight: number): Contender => ({ run, inFlight });
  const rates = await throughputOf({
    bareSeal: at(bareSeal, IN_FLIGHT),
    seal: at(seal, IN_FLIGHT),
    bareSealAlone: at(bareSeal, 1),
    sealAlone: at(seal, 1),
    bareOpenAlone: at(bareOpen, 1),
    openAlone: at(open, 1),
    bareOpen: at(bareOpen, IN_FLIGHT),
    open: at(open, IN_FLIGHT),
  });
  const sealing = 'P-384 key pair + ECDH in node:crypto';
  const opening = 'epk import + ECDH in node:crypto';
  const line = (name: string, [value, bare]: readonly [number, number], baseline: string): BenchLine => ({
    name: `JWE ${name}`,
    value,
    unit: '/s',
    baseline,
    ratio: value / bare,
  });
  return [
    { ...line('seal, 8 in flight', [rates.seal, rates.bareSeal], `${sealing}, 8 in flight`), goal: 0.8 },
    line('seal, one at a time', [rates.sealAlone, rates.bareSealAlone], `${sealing}, one at a time`),
    { ...line('open, one at a time', [rates.openAlone, rates.bareOpenAlone], `${opening}, one at a time`), goal: 0.55 },
    { ...line('open, 8 in flight', [rates.open, rates.bareOpen], `${opening}, 8 in flight`), goal: 0.55 },
  ];
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
