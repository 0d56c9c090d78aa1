import type { MerchantConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { CipherHelpers } from '#libs/gateway';
import { type ClientKey, generateClientKey, importClientKey, importPaymentKey, openJwe, sealJwe } from '#libs/jwe';
import { gatewaySettingsOf } from '../merchant-gateway.js';
import { type Check, fact, fault, type Finding, looked } from './check.js';
import { asFault, type GatewayTools } from './gateway-visit.js';

/** Characters of every length in UTF-8, and some that a query string or JSON could mangle. */
const TEXTS = ['session broker', '{"amount":"1.00","text":"a+b & c=d %20"}', 'Überweisung € 漢字 🙂'] as const;
/** Both helpers for each text, and some slack. */
const CALLS = 2 * TEXTS.length + 2;
const REMEDY = 'report it to the bank: one of the two sides does not keep to the interface description';

/**
 * Tests our JWE in both directions against the gateway's own cipher helpers, with a throwaway key pair: no configured
 * key goes anywhere.
 */
export function crossCheck(configured: MerchantConfiguration, tools: GatewayTools): Check {
  const helpers = new CipherHelpers({ ...tools, merchants: () => [gatewaySettingsOf(configured)] });
  const merchant = configured.id;
  return {
    name: 'cipher.cross_check',
    subject: merchant,
    limitMs: CALLS * configured.gateway.timeoutMs,
    run: (signal) =>
      asFault(async () => {
        const pair = await generateClientKey();
        const key = await importClientKey(pair.privateJwk);
        const findings: Finding[] = [];
        for (const [index, text] of TEXTS.entries()) {
          const jwe = await sealJwe(new TextEncoder().encode(text), await importPaymentKey(pair.publicJwk));
          const theirs = await helpers.decrypt({ merchant, signal, jwe, privateJwk: pair.privateJwk });
          findings.push(...compared(theirs === text, `text ${index + 1}: the gateway opens our JWE to another text`));
          const sealed = await helpers.encrypt({ merchant, signal, plaintext: text, publicJwk: pair.publicJwk });
          const ours = await openedText(sealed.trim(), key);
          findings.push(
            ...compared(ours === text, `text ${index + 1}: we open the JWE of the gateway to another text`),
          );
        }
        return looked(findings.length > 0 ? findings : [fact(`${TEXTS.length} texts went both ways unchanged`)]);
      }, 'see whether testBaseUrl leads to the helpers of the test environment'),
  };
}

const compared = (isSame: boolean, message: string): readonly Finding[] =>
  isSame ? [] : [fault('invalidAnswer', message, REMEDY)];

/** Undefined if it does not open, which is a finding here and not an error. */
async function openedText(jwe: string, key: ClientKey): Promise<string | undefined> {
  try {
    return new TextDecoder().decode((await openJwe(jwe, [key])).plaintext);
  } catch (error) {
    if (error instanceof BrokerError) return undefined;
    throw error;
  }
}
