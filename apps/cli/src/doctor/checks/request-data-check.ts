import type { MerchantConfiguration } from '#libs/configuration';
import { inspectSession, type RequestData } from '#libs/gateway';
import { GatewayFailure } from '#libs/session';
import { gatewayFaultClass } from '../../gateway-fault-class.js';
import { describeFailure } from '../../gateway-words.js';
import { gatewaySettingsOf } from '../../merchant-gateway.js';
import { type Check, fact, fault, type Finding, looked, some, type Verdict, warning } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { VisitTools } from '../gateway-visit.js';
import { type RecipientCandidate, searchRequestData, type SearchResult } from '../request-data-search.js';

interface RequestDataToFind {
  readonly merchant: MerchantConfiguration;
  readonly tools: VisitTools;
  /** Names of places to try before the usual ones. */
  readonly names: readonly string[];
  readonly recipients: readonly RecipientCandidate[];
}

/** None of them has been observed; they are names that such gateways use. */
const USUAL_NAMES = ['jwe', 'message', 'data', 'request', 'sessionRequestData'];
const MAX_CALLS = 24;

/** Finds out by create calls how the gateway wants the session request data. Never in production. */
export function requestDataCheck(wanted: RequestDataToFind): Check {
  const { merchant } = wanted;
  return {
    name: 'session.request_data',
    subject: merchant.id,
    needs: ['configuration'],
    limitMs: MAX_CALLS * merchant.gateway.timeoutMs,
    run: (signal) =>
      asFault(async () => {
        const names = [...new Set([...wanted.names, ...configuredNames(merchant), ...USUAL_NAMES])];
        const space = { names, recipients: wanted.recipients, maxCalls: MAX_CALLS };
        const result = await searchRequestData(space, (requestData) => createWith(requestData, wanted, signal));
        return describe(result, { wanted, names });
      }, 'see whether baseUrl leads to the gateway of the test environment'),
  };
}

function configuredNames({ gateway: { requestData } }: MerchantConfiguration): readonly string[] {
  return requestData.attach === 'none' ? [] : [requestData.name];
}

async function createWith(
  requestData: RequestData,
  { merchant, tools }: RequestDataToFind,
  signal: AbortSignal,
): Promise<void> {
  const { session } = await inspectSession(tools, { gateway: { ...gatewaySettingsOf(merchant), requestData }, signal });
  if (session instanceof GatewayFailure) throw session;
}

interface Searched {
  readonly wanted: RequestDataToFind;
  readonly names: readonly string[];
}

function describe(result: SearchResult, searched: Searched): Verdict {
  const calls = fact(`${result.calls} create calls were made`);
  const setting = settingOf(result);
  const facts = { calls: result.calls, ...(setting === undefined ? {} : { requestData: setting }) };
  return looked([calls, ...findingsOn(result, searched)], facts);
}

function findingsOn(result: SearchResult, { wanted, names }: Searched): readonly Finding[] {
  switch (result.kind) {
    case 'not_needed':
    case 'found':
      return [settingFinding(result, wanted.merchant)];
    case 'place_found':
      return [
        fault(
          'refused',
          `the gateway reads it in the ${nounOf(result.attach)} ${result.name}, sealed to a key that was not tried`,
          'ask the bank for its public key, and give it with --recipient-key',
        ),
      ];
    case 'not_found':
      return [
        fault(
          'refused',
          `the gateway wants something besides the serviceCode, and not as body field or header ${some(names)}`,
          'ask the bank for the name, and give it with --name',
        ),
      ];
    case 'stopped':
      return [
        fault(
          gatewayFaultClass(result.failure),
          `ended by a failure that is not about the request data: ${describeFailure(result.failure)}`,
          'fix that first',
        ),
      ];
  }
}

const nounOf = (attach: 'body' | 'header'): string => (attach === 'body' ? 'body field' : 'header');

function settingFinding(result: SearchResult, { gateway: { requestData } }: MerchantConfiguration): Finding {
  const setting = `requestData: { ${Object.entries(settingOf(result) ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')} }`;
  const isConfigured =
    result.kind === 'not_needed'
      ? requestData.attach === 'none'
      : result.kind === 'found' &&
        requestData.attach === result.attach &&
        requestData.name === result.name &&
        requestData.recipient.thumbprint === result.recipient.key.thumbprint;
  return isConfigured
    ? fact(`the gateway takes what is configured: ${setting}`)
    : warning('the gateway takes something other than what is configured', `set gateway.${setting}`);
}

function settingOf(result: SearchResult): Readonly<Record<string, string>> | undefined {
  if (result.kind === 'not_needed') return { attach: 'none' };
  if (result.kind !== 'found') return undefined;
  const { attach, name, recipient } = result;
  return { attach, name, recipientKeyFile: recipient.file };
}
