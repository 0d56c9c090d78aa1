"""Seals or opens a batch with jwcrypto: the key on the first line of stdin, then a line per message; a line per answer.

Plaintexts travel as base64, JWEs as they are.
"""

import base64
import json
import sys

from jwcrypto import jwe, jwk

PROFILE = {"alg": "ECDH-ES+A256KW", "enc": "A256GCM"}


def generate(_key, _line):
    return jwk.JWK.generate(kty="EC", crv="P-384", use="enc", alg=PROFILE["alg"]).export_private()


def thumbprint(key, _line):
    return key.thumbprint()


def seal(key, line):
    token = jwe.JWE(base64.b64decode(line), protected=json.dumps(PROFILE), algs=list(PROFILE.values()))
    token.add_recipient(key)
    return token.serialize(compact=True)


def open_(key, line):
    token = jwe.JWE(algs=list(PROFILE.values()))
    token.deserialize(line)
    try:
        token.decrypt(key)
    except jwe.InvalidJWEData:
        # jwcrypto takes an empty plaintext for a missing one, after it has opened and set it.
        if token.plaintext is None:
            raise
    return base64.b64encode(token.plaintext).decode()


VERBS = {"generate": generate, "thumbprint": thumbprint, "seal": seal, "open": open_}


def main():
    verb = VERBS[sys.argv[1]]
    members = json.loads(sys.stdin.readline())
    key = jwk.JWK(**members) if members else None
    for line in sys.stdin:
        print(verb(key, line.rstrip("\n")))


main()
