import { Module } from '@nestjs/common';
import { AuthenticationFailures } from './authentication-failures.js';
import { Authenticator } from './authenticator.service.js';
import { PolicyTable } from './policy-table.js';
import { StandingAccess } from './standing-access.js';

/** Who is calling, and what the caller may do. */
@Module({
  providers: [AuthenticationFailures, Authenticator, PolicyTable, StandingAccess],
  exports: [AuthenticationFailures, Authenticator, PolicyTable, StandingAccess],
})
export class AuthModule {}
