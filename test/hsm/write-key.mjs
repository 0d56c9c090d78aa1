// Puts a private key into a token of SoftHSM, as somebody would with pkcs11-tool: it stays there, and may only derive.
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
p11.C_CreateObject(session, [
  { type: pkcs11.CKA_CLASS, value: pkcs11.CKO_PRIVATE_KEY },
  { type: pkcs11.CKA_KEY_TYPE, value: pkcs11.CKK_EC },
  { type: pkcs11.CKA_TOKEN, value: true },
  { type: pkcs11.CKA_PRIVATE, value: true },
  { type: pkcs11.CKA_SENSITIVE, value: !extractable },
  { type: pkcs11.CKA_EXTRACTABLE, value: extractable },
  { type: pkcs11.CKA_DERIVE, value: derive },
  { type: pkcs11.CKA_LABEL, value: label },
  { type: pkcs11.CKA_EC_PARAMS, value: Buffer.from(curves[jwk.crv], 'hex') },
  { type: pkcs11.CKA_VALUE, value: octets('d') },
]);
p11.C_Finalize();
