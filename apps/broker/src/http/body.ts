import { applyDecorators, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  Min,
  ValidateIf,
  type ValidationError,
  Validator,
} from 'class-validator';
import { BrokerError } from '#libs/errors';
import { type ApiPropertyOptions, Generation, Member } from '../docs/api-decorators.js';

type Options = ApiPropertyOptions;

/** The member of a body: the rule that it is checked by, and what the contract says of it. */
function checked(rule: PropertyDecorator, description: string, options: Options): PropertyDecorator {
  const isOptional = options.required === false;
  const ifGiven = isOptional ? [ValidateIf((_body, value) => value !== undefined)] : [];
  return applyDecorators(...ifGiven, rule, Member(description, options));
}

const GENERATION = { message: 'must be a whole number from 1 to 9007199254740991' };

export function GenerationMember(description: string): PropertyDecorator {
  const rules = [Max(Number.MAX_SAFE_INTEGER, GENERATION), Min(1, GENERATION), IsInt(GENERATION)];
  return applyDecorators(...rules, Generation(description));
}

export function TextMember(description: string, options: Options = {}): PropertyDecorator {
  return checked(IsString({ message: 'must be text' }), description, options);
}

/** A text of 1 to 64 of the characters, written as in a pattern. */
export function WordMember(characters: string, description: string, options: Options = {}): PropertyDecorator {
  const pattern = `^[A-Za-z0-9${characters}]{1,64}$`;
  const message = `must be 1 to 64 letters, digits and ${[...characters].join(' ')}`;
  return checked(Matches(new RegExp(pattern), { message }), description, { pattern, ...options });
}

export function ChoiceMember(of: readonly string[], description: string, options: Options = {}): PropertyDecorator {
  const rule = IsIn(of, { message: `must be one of ${of.join(', ')}` });
  return checked(rule, description, { enum: [...of], ...options });
}

/** @param what goes after "must be" */
export function ObjectMember(what: string, description: string, options: Options): PropertyDecorator {
  return checked(IsObject({ message: `must be ${what}` }), description, options);
}

/** The name of an unknown member is the caller's text: it is repeated only if it looks like a name. */
const NAME_LIKE = /^[A-Za-z]\w{0,31}$/;
const MAX_FAULTS = 5;

const validator = new Validator();

/**
 * Checks a JSON body against its class: nothing is converted, nothing unknown is accepted, and every fault is named by
 * its member and rule, never by a value.
 */
export class StrictBody<Body extends object> implements PipeTransform<unknown, Body> {
  constructor(private readonly type: new () => Body) {}

  /** @throws BrokerError `invalid_request` */
  transform(body: unknown): Body {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw refusal('the body must be a JSON object');
    const instance = plainToInstance(this.type, body, { enableImplicitConversion: false });
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
