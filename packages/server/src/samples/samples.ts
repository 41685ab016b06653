import { limits, type SampleObstacle, uploadedFileConnectorId } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { addConnection, triggerConnection } from '../connections/connections.ts'
import { lockConfiguration, saveConfiguration } from '../connectors/configuration.ts'
import { createConnectorConfiguration, deleteConnectorConfiguration } from '../connectors/configurations.ts'
import { addToAccount, isConnectorAdded, removeConnector } from '../connectors/connectors.ts'
import { Refusal, refuse } from '../refusal.ts'
import { requireConnection, startTransfer, type TransferDeps } from '../transfers/transfers.ts'
import { deleteUpload, requireUpload } from '../uploads/uploads.ts'
import { createSampleDatabase, removeSampleDatabases, type SampleServer, sampleTable } from './provision.ts'
import * as queries from './queries.ts'
import { viewSample } from './view.ts'

/** Sample data: one connection of a sub-account from an uploaded file to a separate database in the embedded PostgreSQL. */

/** Dependencies of the handlers of samples. */
export type SampleDeps = TransferDeps & {
  /** The embedded PostgreSQL. Undefined if the service uses another PostgreSQL. */
  readonly sampleServer: SampleServer | undefined
}

const configurationName = 'Sample database'
/** Any version, because these changes belong to the sample. */
const precondition = { check: () => {} }

/** Why this deployment cannot have a sample. Null if it can. */
const obstacleOf = ({ sampleServer, config }: SampleDeps): SampleObstacle | null =>
  sampleServer === undefined ? 'external_database' : config.egress.networkPolicy === 'any' ? null : 'network_policy'

const obstacleTexts: Readonly<Record<SampleObstacle, string>> = {
  external_database:
    'the service runs on a PostgreSQL of the operator (DATABASE_URL), in which it creates nothing else',
  network_policy: 'the network policy of connectors allows no private addresses (PENSTOCK_EGRESS)',
}

export async function getSample({ db, account }: Call<'getSample'>, deps: SampleDeps): Promise<Answer<'getSample'>> {
  const row = account && (await queries.findSample.first(db, { accountId: account.id }))
  return { reply: viewSample(row, obstacleOf(deps)) }
}

/**
 * Creates the database, the connectors, the connection and the transfer. One at a time over all processes, so that a second
 * call finds the sample of the first. Refuses with `sample_not_available`, and with `not_found` if the file is not there.
 */
export async function createSample(call: Call<'createSample'>, deps: SampleDeps): Promise<Answer<'createSample'>> {
  const { db: tx, account, body } = call
  const obstacle = obstacleOf(deps)
  const { sampleServer } = deps
  if (obstacle !== null || !sampleServer) {
    return refuse('sample_not_available', [
      { field: 'sample', message: obstacleTexts[obstacle ?? 'external_database'] },
    ])
  }
  await queries.lockSamples.first(tx, {})
  const existing = await queries.findSample.first(tx, { accountId: account.id })
  if (existing) {
    const connection = await requireConnection(tx, account, existing.connectionId).catch(() => undefined)
    if (connection && connection.status !== 'deleted') return { reply: viewSample(existing, null), already: true }
    // The sample's connection was deleted separately. The rest of the old sample is removed first.
    await removeRest(call, existing, deps)
  }
  const count = await queries.countOfOrganization.first(tx, { organizationId: account.organizationId })
  if ((count?.total ?? 0) >= limits.samplesPerOrganization) {
    const message = `at most ${limits.samplesPerOrganization} samples in an organization: remove one in another sub-account`
    refuse('quota_exceeded', [{ field: 'sample', message }])
  }
  const upload = await requireUpload(tx, account, body.uploadId)
  const postgresql = findPostgresql(deps)
  const connectorIds = [uploadedFileConnectorId, postgresql.id]
  const before = new Set<string>()
  for (const id of connectorIds) {
    if (await isConnectorAdded(tx, account, id)) before.add(id)
  }
  await addToAccount({ db: tx, account, body: { connectorIds } }, deps)
  const addedConnectorIds = connectorIds.filter((id) => !before.has(id))
  const configurationId = await findOrAddConfiguration(call, postgresql.id, addedConnectorIds, deps)

  const kept = await queries.listDatabases.all(tx, {})
  const made = await createSampleDatabase(
    sampleServer,
    kept.map(({ database }) => database),
  )
  const row = await lockConfiguration(tx, { accountId: account.id, connectorId: postgresql.id, configurationId })
  if (!row) throw new Error('The configuration of the sample is gone')
  const { host, port, name: user, password } = made
  const secretConfig = { host, port, database: user, user, password, tlsMode: 'disable' }
  await saveConfiguration(tx, postgresql, account, row, { secretConfig, name: configurationName }, deps)

  const { reply: connection } = await addConnection(
    {
      db: tx,
      account,
      body: {
        name: 'Sample people',
        srcConnectorId: uploadedFileConnectorId,
        destConnectorId: postgresql.id,
        destConfigurationId: configurationId,
        srcConnectionConfig: { upload: upload.id },
        destConnectionConfig: { table: sampleTable, writeMode: 'Upsert', keyColumns: 'id' },
      },
    },
    deps,
  )
  const { id: connectionId } = connection
  await triggerConnection({ db: tx, account, id: connectionId, precondition }, deps, 'activate')
  const start = { ...call, id: connectionId, body: {} } as Call<'startTransfer'>
  const { reply: transfer } = await startTransfer(start, deps)
  const sample = await queries.insertSample.first(tx, {
    accountId: account.id,
    organizationId: account.organizationId,
    database: made.name,
    connectionId,
    configurationId,
    transferId: transfer.id,
    uploadId: upload.id,
    addedConnectorIds,
  })
  return { reply: viewSample(sample, null), already: false }
}

/** The first configuration of a connector that the sample adds, and otherwise another one. */
async function findOrAddConfiguration(
  call: Call<'createSample'>,
  connectorId: string,
  addedConnectorIds: readonly string[],
  deps: SampleDeps,
): Promise<string> {
  const { db: tx, account } = call
  if (addedConnectorIds.includes(connectorId)) {
    const first = await lockConfiguration(tx, { accountId: account.id, connectorId, configurationId: null })
    if (first) return first.configurationId
  }
  const create = { ...call, id: connectorId, body: { name: configurationName } }
  const { reply } = await createConnectorConfiguration(create as Call<'createConnectorConfiguration'>, deps)
  return reply.configurationId
}

/** Removes the sample with everything that only it uses. Refuses with `not_found` if there is no sample. */
export async function deleteSample(call: Call<'deleteSample'>, deps: SampleDeps): Promise<Answer<'deleteSample'>> {
  const { db: tx, account } = call
  await queries.lockSamples.first(tx, {})
  const row = (await queries.findSample.first(tx, { accountId: account.id })) ?? refuse('not_found')
  await triggerConnection({ db: tx, account, id: row.connectionId, precondition }, deps, 'delete').catch(ifMissing)
  await removeRest(call, row, deps)
  return { reply: { done: true }, audited: { before: viewSample(row, null), after: null } }
}

/** Removes everything except the connection. The database is removed last, so that nothing refers to a missing one. */
async function removeRest(
  call: Call<'deleteSample'> | Call<'createSample'>,
  row: queries.SampleRow,
  deps: SampleDeps,
): Promise<void> {
  const { db: tx, account } = call
  const postgresql = findPostgresql(deps)
  const { addedConnectorIds, configurationId } = row
  const remove = (connectorId: string) =>
    removeConnector({ ...call, body: undefined, id: connectorId, precondition } as Call<'removeConnector'>, deps)
  if (addedConnectorIds.includes(postgresql.id)) await remove(postgresql.id).catch(ifMissing)
  else {
    const query = { configurationId }
    const removal = { ...call, body: undefined, id: postgresql.id, query, precondition }
    await deleteConnectorConfiguration(removal as Call<'deleteConnectorConfiguration'>, deps).catch(ifMissing)
  }
  const ofUpload = { ...call, body: undefined, id: row.uploadId } as Call<'deleteUpload'>
  await deleteUpload(ofUpload).catch(ifMissing)
  // Other connections can read files, too.
  if (addedConnectorIds.includes(uploadedFileConnectorId)) await remove(uploadedFileConnectorId).catch(ifUsed)
  await queries.deleteSample.run(tx, { accountId: account.id })
  const kept = await queries.listDatabases.all(tx, {})
  if (deps.sampleServer) {
    await removeSampleDatabases(
      deps.sampleServer,
      kept.map(({ database }) => database),
    )
  }
}

const findPostgresql = ({ catalogue }: SampleDeps) =>
  catalogue.listed.find(({ slug }) => slug === 'postgresql') ?? refuse('not_found')

/** A resource that someone removed already needs no removal. */
function ifMissing(error: unknown): void {
  const missing = ['not_found', 'connector_not_added', 'configuration_not_found']
  if (!(error instanceof Refusal && missing.includes(error.code))) throw error
}

function ifUsed(error: unknown): void {
  if (!(error instanceof Refusal && error.code === 'connector_in_use')) ifMissing(error)
}
