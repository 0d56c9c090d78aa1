import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Permission } from '#libs/configuration';

export const ACCESS = Symbol('access');

/** `merchant`: the permission is checked for the `merchant` of the path. `caller`: any authenticated caller may ask. */
export type Access = { readonly scope: 'merchant'; readonly permission: Permission } | { readonly scope: 'caller' };

/** What a route requires of its caller. A route without this refuses everyone. */
export function Requires(access: Access): CustomDecorator<symbol> {
  return SetMetadata(ACCESS, access);
}
