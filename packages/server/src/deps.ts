import type { AccountContents, createAccountFinder } from './accounts/accounts.ts'
import type { Config } from './config.ts'
import type { Catalogue } from './connectors/catalogue.ts'
import type { Database } from './db/database.ts'
import type { Notices } from './db/notices.ts'
import type { Keyring } from './secrets/keyring.ts'
import type { Attempts, RequestLimit } from './tokens/attempts.ts'
import type { InteractiveJobs } from './transfers/interactive.ts'

/** What the rooms are handed; made once, in `service.ts`. */
export type Deps = {
  config: Config
  database: Database
  notices: Notices
  keyring: Keyring
  attempts: Attempts
  requestLimit: RequestLimit
  accounts: ReturnType<typeof createAccountFinder>
  accountContents: AccountContents
  catalogue: Catalogue
  interactive: InteractiveJobs
}
