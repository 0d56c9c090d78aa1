import { Module } from '@nestjs/common';
import { AuthenticationFailures } from './authentication-failures.js';
import { Authenticator } from './authenticator.service.js';
import { PolicyTable } from './policy-table.js';

/** Who calls, and what the caller may do. */
@Module({
  providers: [AuthenticationFailures, Authenticator, PolicyTable],
  exports: [AuthenticationFailures, Authenticator, PolicyTable],
})
export class AuthModule {}
