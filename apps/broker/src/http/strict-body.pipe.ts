import { Injectable, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, Validator } from './body-rules.js';
import { BrokerError } from '#libs/errors';

type BodyClass<Body> = new () => Body;

/** The name of an unknown member is the caller's text: it is repeated only if it looks like a name. */
const NAME_LIKE = /^[A-Za-z]\w{0,31}$/;
const MAX_FAULTS = 5;

const validator = new Validator();

/**
 * Checks a JSON body against its class: nothing is converted, nothing unknown is accepted, and every fault is named by
 * its member and rule, never by a value.
 */
@Injectable()
export class StrictBody<Body extends object> implements PipeTransform<unknown, Body> {
  readonly #type: BodyClass<Body>;

  constructor(type: BodyClass<Body>) {
    this.#type = type;
  }

  /** @throws BrokerError `invalid_request` */
  transform(body: unknown): Body {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw refusal('the body must be a JSON object');
    const instance = plainToInstance(this.#type, body, { enableImplicitConversion: false });
    const errors = validator.validateSync(instance, {
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: true,
      stopAtFirstError: true,
      validationError: { target: false, value: false },
    });
    if (errors.length > 0) throw refusal(errors.slice(0, MAX_FAULTS).map(describe).join('; '));
    return instance;
  }
}

function describe({ property, constraints = {} }: ValidationError): string {
  if ('whitelistValidation' in constraints) {
    return NAME_LIKE.test(property) ? `${property}: is not a known member` : 'there is a member that is not known';
  }
  return `${property}: ${Object.values(constraints)[0] ?? 'is not valid'}`;
}

function refusal(publicDetail: string): BrokerError {
  return new BrokerError('invalid_request', { publicDetail });
}
