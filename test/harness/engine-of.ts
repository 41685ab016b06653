import type { SupervisorDeps } from '../../packages/server/src/transfers/supervisor/deps.ts'
import type { TestService } from './service.ts'
import { supervision } from './supervision.ts'

/** Dependencies of a worker's supervision, from a service: for tests that do one of its duties themselves. */
export const engineOf = ({ database, service, config, runners }: TestService): SupervisorDeps => ({
  database,
  runners,
  keyring: service.deps.keyring,
  secretManagers: service.deps.secretManagers,
  identityTokens: service.deps.identityTokens,
  catalogue: service.deps.catalogue,
  settings: { ...supervision, rejectsMax: config.rejects.max, replaceShareMin: config.replacePercentMin / 100 },
})
