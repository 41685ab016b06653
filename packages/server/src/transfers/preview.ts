import type { BodyOf, Preview } from '@penstock/wire'
import { readFieldValues, requireReady } from '../connections/ends.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Database } from '../db/database.ts'
import type { ActingAccount } from '../http/call.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { InteractiveJobs } from './interactive.ts'
import { movingSides, openSide } from './sides.ts'
import { readRunTimeConfigs, requireConnection, requireIntegrated } from './transfers.ts'

const previewTimeoutMs = 60_000
/** How long the destination may take to answer; the records are shown all the same. */
const inspectionMs = 15_000

/**
 * Has a runner read a few records, map them and ask the destination about problems, or show what there is to be mapped;
 * sends nothing.
 */
export async function previewConnection(
  database: Database,
  deps: { catalogue: Catalogue; keyring: Keyring; interactive: InteractiveJobs },
  account: ActingAccount,
  connectionId: string,
  body: BodyOf<'previewConnection'>,
  signal: AbortSignal,
): Promise<Preview> {
  const { catalogue, keyring, interactive } = deps
  const row = await requireConnection(database, account, connectionId)
  if (row.status === 'deleted') refuse('connection_deleted')
  requireIntegrated(catalogue, row)
  const given = readRunTimeConfigs(catalogue, row, body, readFieldValues)
  const configs = {
    srcConfig: { ...row.srcConfig, ...given.srcConfig },
    destConfig: { ...row.destConfig, ...given.destConfig },
  }
  await database.transaction((tx) => requireReady(tx, catalogue, { ...row, ...configs }))
  const { source, destination, deliver } = movingSides(catalogue, row)
  const unmapped = body.unmapped ?? false
  const opening = { database, keyring }
  const result = await interactive.run(
    {
      kind: 'preview',
      source: await openSide(opening, source, account.id, configs.srcConfig),
      // Its secrets are opened for what asks the destination alone.
      destination:
        deliver.inspect && !unmapped
          ? await openSide(opening, destination, account.id, configs.destConfig)
          : { slug: destination.slug, secrets: {}, settings: configs.destConfig },
      unmapped,
      inspectionMs,
      deadlineMs: previewTimeoutMs,
    },
    account,
    signal,
  )
  if (!result.ok) return refuse('platform_refused', [{ field: 'srcConnector', message: result.failure.message }])
  if ('faults' in result.value) return refuse('platform_refused', result.value.faults)
  return result.value.preview
}
