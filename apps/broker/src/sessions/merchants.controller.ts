import { Controller, Get, Inject, Param, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import type { FastifyRequest } from 'fastify';
import { leadsElsewhere, told, type Told } from '#libs/causes';
import { plusMs, toRfc3339 } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { type RecordedFailure, SessionReplica } from '#libs/session';
import { Requires } from '../auth/access.guard.js';
import { callerOf } from '../auth/caller.js';
import { PolicyTable } from '../auth/policy-table.js';
import { Problems } from '../docs/route-documents.js';
import { ForMerchant, MERCHANTS_PATH } from '../http/merchant-route.js';
import { ConfigurationInForce, type LastReading } from '../configuration/configuration-in-force.js';
import { THIS_REPLICA, type ThisReplica } from '../platform/platform.js';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { restartAdvice } from '../renewal/restart-advice.js';
import { type StoreCondition, StoreState } from '../renewal/store.js';
import {
  ClientKeyDocument,
  type FailureDocument,
  type MerchantDocument,
  MerchantListDocument,
} from './merchant-documents.js';

@Controller(MERCHANTS_PATH)
export class MerchantsController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly policies: PolicyTable,
    private readonly merchants: ConfiguredMerchants,
    private readonly store: StoreState,
    private readonly configuration: ConfigurationInForce,
    @Inject(THIS_REPLICA) private readonly self: ThisReplica,
  ) {}

  @Get()
  @Requires('any caller')
  @ApiTags('merchants')
  @ApiBearerAuth()
  @ApiOperation({
    summary: 'The merchants that you may read, and their state',
    description: 'In the order of the configuration, as the answering replica sees them, and without any secret.',
    operationId: 'listMerchants',
  })
  @ApiResponse({ status: 200, type: MerchantListDocument, description: 'With their ids.' })
  @Problems(401, 503)
  listMerchants(@Req() request: FastifyRequest): MerchantListDocument {
    const readable = this.policies.merchantsFor(callerOf(request), 'session:read');
    const { current, trouble } = this.store;
    return {
      replica: this.self.name,
      store: current?.condition ?? 'unknown',
      ...(trouble === undefined ? {} : { storeReason: trouble }),
      ...changedConfiguration(this.configuration.lastReading, current?.condition),
      merchants: readable.map((merchant) => this.#describe(merchant)),
    };
  }

  @Get(':merchant/client-key')
  @ForMerchant('session:read', {
    tag: 'merchants',
    summary: 'The public client key to hand to the bank',
    description: 'The first of `clientKeyFiles`, as a JSON Web Key, with its thumbprint for comparison.',
    operationId: 'getClientKey',
    answer: { type: ClientKeyDocument, description: 'The newest key, without its private part.', headers: {} },
  })
  getClientKey(@Param('merchant') merchant: string): ClientKeyDocument {
    const key = this.merchants.connectionOf(merchant)?.clientKeys[0];
    if (key === undefined) throw new BrokerError('merchant_not_found');
    const { kty, crv, x, y } = key.publicJwk;
    return { merchant, jwk: { kty, crv, use: 'enc', alg: 'ECDH-ES+A256KW', x, y }, thumbprint: key.thumbprint };
  }

  #describe(merchant: string): MerchantDocument {
    const session = this.replica.held.get(merchant);
    const failure = this.replica.failureOf(merchant);
    const { result, reason } = this.replica.wishes.verdict(merchant);
    // It is served, but any payment may find it dead.
    const isDisputed = result === 'fresh' && this.replica.hasForeignAuthorizer(merchant);
    return {
      id: merchant,
      state: isDisputed ? 'foreign_authorizer' : result,
      reason: isDisputed ? 'foreign_authorizer' : reason,
      condition: this.replica.conditionOf(merchant),
      renewing: this.replica.isRenewing(merchant),
      renewalBlocked: this.store.blocksRenewal,
      ...(session && {
        generation: session.generation,
        expiresAt: toRfc3339(session.expiresAt),
        renewAt: toRfc3339(session.renewAt),
      }),
      ...(failure === undefined ? {} : { lastFailure: failureDocument(failure) }),
      ...this.#outlook(merchant),
    };
  }

  #outlook(merchant: string): Pick<MerchantDocument, 'cause' | 'remedy' | 'runbook' | 'retryAt'> {
    const cause = this.replica.causeFor(merchant);
    const retryInMs = this.replica.retryInMs(merchant);
    return {
      ...(cause === undefined ? {} : causeDocument(told(cause, merchant))),
      ...(retryInMs === undefined ? {} : { retryAt: toRfc3339(plusMs(this.self.clock.now(), Math.round(retryInMs))) }),
    };
  }
}

function changedConfiguration(
  lastReading: LastReading,
  store: StoreCondition | undefined,
): Pick<MerchantListDocument, 'configuration'> {
  const { refused, awaitingRestart } = lastReading;
  const advice = restartAdvice(lastReading, store);
  if (refused === undefined && advice === undefined) return {};
  const { since, ...found } = refused ?? {};
  const refusal = since === undefined ? {} : { refusedSince: toRfc3339(since), ...found };
  const awaiting = advice && { awaitingRestart, advice: advice.text, runbook: advice.runbook };
  return { configuration: { ...refusal, ...awaiting } };
}

function causeDocument({ text, remedy, runbook }: Told): Pick<MerchantDocument, 'cause' | 'remedy' | 'runbook'> {
  return { cause: text, remedy, runbook };
}

function failureDocument(failure: RecordedFailure): FailureDocument {
  return {
    kind: failure.kind,
    ...(failure.msgCode === undefined ? {} : { msgCode: failure.msgCode }),
    ...(failure.trace?.requestId === undefined ? {} : { gatewayRequestId: failure.trace.requestId }),
    ...(leadsElsewhere(failure) ? { wrongAddress: true } : {}),
    at: toRfc3339(failure.at),
  };
}
