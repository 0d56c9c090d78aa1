import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { Inject, Injectable } from '@nestjs/common';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { HTTP_SERVER } from './http-server.js';
import { tlsOptions } from '#libs/edge';

/** The certificate that the API presents, and the authorities that it accepts callers' certificates from. */
@Injectable()
export class ServerCertificate {
  readonly #server: Server;
  readonly #configuration: ConfigurationInForce;

  constructor(@Inject(HTTP_SERVER) server: Server, @Inject(ConfigurationInForce) configuration: ConfigurationInForce) {
    this.#server = server;
    this.#configuration = configuration;
    // Made only to find out whether it can be: a certificate that OpenSSL refuses must not come into force.
    configuration.derive(({ http }) =>
      http.tls === undefined ? undefined : createSecureContext(tlsOptions(http.tls)),
    );
  }

  /** Takes effect with the next connection. */
  present(): void {
    const { tls } = this.#configuration.current.http;
    if (tls !== undefined && this.#server instanceof TlsServer) this.#server.setSecureContext(tlsOptions(tls));
  }
}
