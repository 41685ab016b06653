import type { FailedSignIns } from '../audit/sign-ins.ts'
import type { Config } from '../config.ts'
import type { Mailer } from '../mail.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { Attempts, RequestLimit } from '../tokens/attempts.ts'
import type { Passwords } from './passwords.ts'
import type { UserSessions } from './sessions.ts'

/** Dependencies of the handlers of people. */
export type UserDeps = {
  readonly config: Config
  readonly keyring: Keyring
  readonly attempts: Attempts
  readonly failedSignIns: FailedSignIns
  readonly requestLimit: RequestLimit
  readonly passwords: Passwords
  readonly mailer: Mailer
  readonly userSessions: UserSessions
}
