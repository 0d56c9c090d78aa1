import type { ClientKey } from '#libs/jwe';
import type { GatewayConfiguration, MerchantConfiguration, RequestDataConfiguration } from './broker-configuration.js';
import type { ConfiguredFiles } from './configured-files.js';
import type { ParsedMerchant } from './parsed-configuration.js';

/**
 * Reads every file of one merchant, in the order of the settings; faults and warnings gather in `files`.
 * @returns undefined when one of the files is not usable
 */
export async function loadMerchant(
  merchant: ParsedMerchant,
  path: string,
  files: ConfiguredFiles,
): Promise<MerchantConfiguration | undefined> {
  const { id, required, session } = merchant;
  const serviceCode = await loadServiceCode(merchant, path, files);
  const clientKeys = await loadClientKeys(merchant, path, files);
  const gateway = await loadGateway(merchant, `${path}.gateway`, files);
  if (serviceCode === undefined || clientKeys === undefined || gateway === undefined) return undefined;
  return { id, required, session, serviceCode, clientKeys, gateway };
}

async function loadServiceCode(
  { serviceCode }: ParsedMerchant,
  path: string,
  files: ConfiguredFiles,
): Promise<string | undefined> {
  return serviceCode.kind === 'value'
    ? serviceCode.value
    : files.serviceCode(serviceCode.file, `${path}.serviceCodeFile`);
}

async function loadClientKeys(
  { clientKeyFiles }: ParsedMerchant,
  path: string,
  files: ConfiguredFiles,
): Promise<ClientKey[] | undefined> {
  const keys: ClientKey[] = [];
  for (const [index, file] of clientKeyFiles.entries()) {
    const key = await files.clientKey(file, `${path}.clientKeyFiles[${index}]`);
    if (key !== undefined) keys.push(key);
  }
  return keys.length === clientKeyFiles.length ? keys : undefined;
}

async function loadGateway(
  { gateway }: ParsedMerchant,
  path: string,
  files: ConfiguredFiles,
): Promise<GatewayConfiguration | undefined> {
  const { requestData: attachment, tls, ...rest } = gateway;
  const requestData = await loadRequestData(attachment, path, files);
  if (tls.caFile === undefined) {
    return requestData === undefined ? undefined : { ...rest, requestData, tls: { pins: tls.pins } };
  }
  const ca = await files.certificates(tls.caFile, `${path}.tls.caFile`);
  return requestData === undefined || ca === undefined
    ? undefined
    : { ...rest, requestData, tls: { ca, pins: tls.pins } };
}

async function loadRequestData(
  requestData: ParsedMerchant['gateway']['requestData'],
  path: string,
  files: ConfiguredFiles,
): Promise<RequestDataConfiguration | undefined> {
  if (requestData.attach === 'none') return requestData;
  const { attach, name, recipientKeyFile } = requestData;
  const recipient = await files.recipientKey(recipientKeyFile, `${path}.requestData.recipientKeyFile`);
  return recipient === undefined ? undefined : { attach, name, recipient };
}
