import type { EngineDeps } from '../../packages/server/src/transfers/engine/run.ts'
import type { TestService } from './service.ts'

/** What a worker's engine works with, from a service: for tests that do one of its duties themselves. */
export const engineOf = ({ database, service, config }: TestService): EngineDeps => ({
  ...{ database, keyring: service.deps.keyring, catalogue: service.deps.catalogue, reach: service.deps.reach },
  settings: {
    silenceMs: 20_000,
    patience: { firstMs: 10, mostMs: 100, totalMs: 1_000 },
    rejectsMax: config.rejects.max,
    replaceShareMin: config.replacePercentMin / 100,
  },
})
