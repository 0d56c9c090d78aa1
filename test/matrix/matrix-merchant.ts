import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';

/** A merchant as the broker and the gateway know it. */
export interface MatrixMerchant {
  readonly id: string;
  readonly serviceCode: string;
  readonly key: ClientKey;
  readonly privateJwk: object;
  readonly publicJwk: object;
}

export async function matrixMerchant(id: string, index: number): Promise<MatrixMerchant> {
  const { privateJwk, publicJwk } = await generateClientKey();
  const serviceCode = `137d9304-0368-11ed-b939-${String(index).padStart(12, '0')}`;
  return { id, serviceCode, key: await importClientKey(privateJwk), privateJwk, publicJwk };
}
