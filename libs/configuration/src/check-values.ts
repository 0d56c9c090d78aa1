import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { childPath, type Fault } from './fault.js';
import type { SettingsClass } from './setting.js';

/** Every member may be missing, at any depth: what is there has the right type, what was wrong is left out. */
export type Loose<T> = T extends readonly (infer Item)[]
  ? readonly (Loose<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Loose<T[Key]> | undefined }
    : T;

export interface CheckedValues<T> {
  /** Complete when there are no faults. */
  readonly settings: Loose<T>;
  readonly faults: readonly Fault[];
}

/** Makes the settings objects, defaults filled in, and checks each value by the decorators of its class. */
export function checkValues<T extends object>(tree: object, type: new () => T): CheckedValues<T> {
  const instance = plainToInstance(type as SettingsClass, tree, { enableImplicitConversion: false }) as T;
  const errors = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
  });
  const faults = errors.flatMap((error) => faultsOf(error, ''));
  for (const error of errors) leaveOut(instance, error);
  return { settings: instance as Loose<T>, faults };
}

function faultsOf(error: ValidationError, parent: string): Fault[] {
  const path = childPath(parent, /^\d+$/.test(error.property) ? Number(error.property) : error.property);
  const problem = ownProblem(error);
  if (problem !== undefined) return [{ path, problem }];
  return (error.children ?? []).flatMap((child) => faultsOf(child, path));
}

function ownProblem({ constraints }: ValidationError): string | undefined {
  if (constraints === undefined) return undefined;
  return constraints['setting'] ?? 'is not accepted here';
}

/** The cross rules still run over whatever is right, so that they can be listed with the rest. */
function leaveOut(holder: object, error: ValidationError): void {
  const members = holder as Record<string, unknown>;
  if (error.constraints !== undefined) members[error.property] = undefined;
  const child = members[error.property];
  if (typeof child !== 'object' || child === null) return;
  for (const inner of error.children ?? []) leaveOut(child, inner);
}
