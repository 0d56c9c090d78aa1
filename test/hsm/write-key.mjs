// Puts a private key into a SoftHSM token, as someone would with pkcs11-tool: it stays there, and may only derive.
// Without a "jwk", a key is made in the token and its public half is printed.
//   SOFTHSM2_CONF=… node write-key.mjs '{"module":…,"token":…,"pin":…,"label":…,"jwk":…,"derive":true}'
import pkcs11 from 'pkcs11js';

const { module, token, pin, label, jwk, derive = true, extractable = false } = JSON.parse(process.argv[2]);
const curves = { 'P-384': '06052b81040022', 'P-256': '06082a8648ce3d030107' };
const octets = (name) => Buffer.from(jwk[name], 'base64url');

const p11 = new pkcs11.PKCS11();
p11.load(module);
p11.C_Initialize();
const slot = p11.C_GetSlotList(true).find((one) => p11.C_GetTokenInfo(one).label.trimEnd() === token);
const session = p11.C_OpenSession(slot, pkcs11.CKF_SERIAL_SESSION | pkcs11.CKF_RW_SESSION);
p11.C_Login(session, pkcs11.CKU_USER, pin);
const attributes = [
  { type: pkcs11.CKA_TOKEN, value: true },
  { type: pkcs11.CKA_PRIVATE, value: true },
  { type: pkcs11.CKA_SENSITIVE, value: !extractable },
  { type: pkcs11.CKA_EXTRACTABLE, value: extractable },
  { type: pkcs11.CKA_DERIVE, value: derive },
  { type: pkcs11.CKA_LABEL, value: label },
];
const curve = { type: pkcs11.CKA_EC_PARAMS, value: Buffer.from(curves[jwk?.crv ?? 'P-384'], 'hex') };

if (jwk === undefined) {
  const mechanism = { mechanism: pkcs11.CKM_EC_KEY_PAIR_GEN };
  const { publicKey } = p11.C_GenerateKeyPair(session, mechanism, [curve], attributes);
  const [{ value }] = p11.C_GetAttributeValue(session, publicKey, [{ type: pkcs11.CKA_EC_POINT }]);
  const [x, y] = [value.subarray(-96, -48), value.subarray(-48)].map((half) => half.toString('base64url'));
  process.stdout.write(JSON.stringify({ kty: 'EC', crv: 'P-384', x, y }));
} else {
  p11.C_CreateObject(session, [
    { type: pkcs11.CKA_CLASS, value: pkcs11.CKO_PRIVATE_KEY },
    { type: pkcs11.CKA_KEY_TYPE, value: pkcs11.CKK_EC },
    { type: pkcs11.CKA_VALUE, value: octets('d') },
    curve,
    ...attributes,
  ]);
}
p11.C_Finalize();
