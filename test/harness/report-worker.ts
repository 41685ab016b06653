/**
 * A separate process that works on the transfers of a service, from the platform of `report-platform.ts` to PostgreSQL, until
 * no transfer can be claimed or it is killed:
 *
 *     node test/harness/report-worker.ts '{"databaseUrl": …}'
 */
import assert from 'node:assert/strict'
import { createCatalogue } from '../../packages/server/src/connectors/catalogue.ts'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { createLogger } from '../../packages/server/src/log.ts'
import { openKeyring } from '../../packages/server/src/secrets/keyring.ts'
import { parseMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { Claims } from '../../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../../packages/server/src/transfers/supervisor/work.ts'
import { withSides } from './engine.ts'
import { connectorBySlug } from './fixtures.ts'
import { createInProcessRunners } from './in-process-runners.ts'
import { reportSides } from './report-platform.ts'
import { noSecretManagers } from './secret-managers.ts'
import { noLimits, supervision } from './supervision.ts'

export type ReportWorker = {
  readonly databaseUrl: string
  readonly masterKey: string
  readonly platformUrl: string
  readonly settings: Record<string, string | number>
  readonly reads: 'reports' | 'parts'
}

const { databaseUrl, platformUrl, settings, reads, ...given } = JSON.parse(process.argv[2] ?? '') as ReportWorker
const masterKey = parseMasterKey(given.masterKey)
assert(masterKey)
const database = openDatabase({ url: databaseUrl, poolSize: 3 })
const sides = reportSides(platformUrl, settings, reads)
const catalogue = createCatalogue('http://localhost')
const runners = createInProcessRunners({
  localFolders: [],
  loadConnector: async (slug) => withSides(connectorBySlug(slug), sides),
})
await workOnTransfers(
  {
    database,
    runners,
    keyring: await openKeyring(database, masterKey),
    secretManagers: noSecretManagers,
    catalogue: { ...catalogue, known: (id) => withSides(catalogue.known(id), sides) },
    settings: supervision,
  },
  new Claims(noLimits),
  createLogger('info', { write: (line) => void process.stderr.write(line) }),
  new AbortController().signal,
)
await runners.close()
await database.close()
