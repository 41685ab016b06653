import type { SupervisorDeps } from '../../packages/server/src/transfers/supervisor/deps.ts'
import type { TestService } from './service.ts'

/** Dependencies of a worker's supervision, from a service: for tests that do one of its duties themselves. */
export const engineOf = ({ database, service, config, runners }: TestService): SupervisorDeps => ({
  database,
  runners,
  keyring: service.deps.keyring,
  catalogue: service.deps.catalogue,
  settings: {
    heartbeatTimeoutMs: 20_000,
    retry: { firstMs: 10, mostMs: 100, totalMs: 1_000 },
    rejectsMax: config.rejects.max,
    replaceShareMin: config.replacePercentMin / 100,
    progressMs: 60_000,
    parts: { atOnce: 4, bytesMin: 32 << 20 },
    runTimeMs: 3_600_000,
  },
})
