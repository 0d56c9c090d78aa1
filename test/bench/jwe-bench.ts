import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { generateClientKey, importClientKey, importServerKey, openJwe, sealJwe } from '#libs/jwe';
import type { BenchLine } from './bench-line.js';
import { type Contender, type Pace, paceOf } from './throughput.js';

const PLAINTEXT = Buffer.alloc(512, 'x');
const IN_FLIGHT = 8;
const SEALING = 'P-384 key pair + ECDH in node:crypto, with the same concurrency';
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
  const at = (run: Contender['run'], inFlight: number): Contender => ({ run, inFlight });
  const paces = await paceOf({
    bareSeal: at(bareSeal, IN_FLIGHT),
    seal: at(seal, IN_FLIGHT),
    bareSealAlone: at(bareSeal, 1),
    sealAlone: at(seal, 1),
    bareOpenAlone: at(bareOpen, 1),
    openAlone: at(open, 1),
    bareOpen: at(bareOpen, IN_FLIGHT),
    open: at(open, IN_FLIGHT),
  });
  return [
    { ...throughput('seal, 8 in flight', paces.seal, paces.bareSeal), baseline: SEALING, goal: 0.85 },
    { ...processorTime('seal, processor time', paces.seal, paces.bareSeal), baseline: SEALING, goal: 0.9 },
    { ...throughput('seal, one at a time', paces.sealAlone, paces.bareSealAlone), baseline: SEALING },
    { ...throughput('open, one at a time', paces.openAlone, paces.bareOpenAlone), baseline: OPENING, goal: 0.7 },
    { ...throughput('open, 8 in flight', paces.open, paces.bareOpen), baseline: OPENING, goal: 0.7 },
    { ...processorTime('open, processor time', paces.open, paces.bareOpen), baseline: OPENING, goal: 0.85 },
  ];
}

type Measured = Omit<BenchLine, 'baseline'>;

const throughput = (name: string, ours: Pace, bare: Pace): Measured => ({
  name: `JWE ${name}`,
  value: ours.perSecond,
  unit: '/s',
  ratio: ours.perSecond / bare.perSecond,
});

const processorTime = (name: string, ours: Pace, bare: Pace): Measured => ({
  name: `JWE ${name}`,
  value: ours.cpuMs,
  unit: 'ms',
  ratio: bare.cpuMs / ours.cpuMs,
});

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
