import type { BodyOf, Preview } from '@penstock/wire'
import { requireReady } from '../connections/ends.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Database } from '../db/database.ts'
import type { ActingAccount } from '../http/call.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { InteractiveJobs } from './interactive.ts'
import { movingSides, openSide } from './sides.ts'
import { readRunTimeConfigs, requireConnection, requireIntegrated } from './transfers.ts'

const previewTimeoutMs = 60_000

/** Has a runner read a few records and map them, or show what there is to be mapped; sends nothing. */
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
  const given = readRunTimeConfigs(catalogue, row, body)
  const configs = {
    srcConfig: { ...row.srcConfig, ...given.srcConfig },
    destConfig: { ...row.destConfig, ...given.destConfig },
  }
  await database.transaction((tx) => requireReady(tx, catalogue, { ...row, ...configs }))
  const { source, destination } = movingSides(catalogue, row)
  const result = await interactive.run(
    {
      kind: 'preview',
      source: await openSide({ database, keyring }, source, account.id, configs.srcConfig),
      destination: { slug: destination.slug, settings: configs.destConfig },
      unmapped: body.unmapped ?? false,
      deadlineMs: previewTimeoutMs,
    },
    account,
    signal,
  )
  if (!result.ok) return refuse('platform_refused', [{ field: 'srcConnector', message: result.failure.message }])
  if ('faults' in result.value) return refuse('platform_refused', result.value.faults)
  return result.value.preview
}
