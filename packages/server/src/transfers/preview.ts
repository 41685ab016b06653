import type { Values } from '@penstock/connector'
import { columnsDoNotFit } from '@penstock/engine'
import { limits } from '@penstock/wire'
import { showingTo } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { purposesOf } from '../connections/purposes.ts'
import { readFieldValues, requireReady } from '../connections/sides.ts'
import { Refusal, refuse } from '../refusal.ts'
import { withPresentSecrets } from '../secret-managers/outdated.ts'
import type { SecretManagers } from '../secret-managers/secret-managers.ts'
import { findRules } from './connection-rules-queries.ts'
import { codeOf } from './interactive.ts'
import { JobHost } from './job-host.ts'
import { consequencesOf } from './reads-again.ts'
import { configuredSides, movingSides, openSide } from './sides.ts'
import { startsAfresh } from './state.ts'
import { findState } from './state-queries.ts'
import { readRunTimeConfigs, requireConnection, requireIntegrated, type TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

const previewTimeoutMs = 60_000
/** A person waits for a store of files that says nothing. */
const noAnswerMs = 25_000
/** How long the destination may take to answer; the records are shown all the same. */
const inspectionMs = 15_000

/** Whether keyed hashes of a mapping need the hash key of the destination's configuration. */
const usesHashKey = ({ mapping, filter }: Values): boolean => /\bhmac\b/.test(`${mapping} ${filter}`)

/**
 * Has a runner read a few records, map them and ask the destination about problems, or show what there is to be mapped;
 * sends nothing.
 */
export async function previewConnection(
  { db: database, actor, account, id: connectionId, body, signal }: Call<'previewConnection'>,
  { catalogue, keyring, secretManagers, identityTokens, interactive }: TransferDeps,
): Promise<Answer<'previewConnection'>> {
  const row = await requireConnection(database, account, connectionId)
  if (row.status === 'deleted') refuse('connection_deleted')
  requireIntegrated(catalogue, row)
  const given = readRunTimeConfigs(catalogue, actor, row, body, readFieldValues)
  const configs = {
    srcConfig: { ...row.srcConfig, ...given.srcConfig },
    destConfig: { ...row.destConfig, ...given.destConfig },
  }
  await database.transaction((tx) => requireReady(tx, catalogue, { ...row, ...configs }))
  const { deliver } = movingSides(catalogue, row)
  const { source, destination } = configuredSides(catalogue, row)
  const unmapped = body.unmapped ?? false
  const use = { job: 'preview' }
  const partial = body.partial ?? false
  const asksDestination = deliver.inspect !== undefined && !unmapped && !partial
  const opensDestination = asksDestination || (!unmapped && usesHashKey(configs.destConfig))
  const ask = async (managers: SecretManagers) => {
    const opening = { database, keyring, secretManagers: managers, identityTokens }
    return interactive.run(
      {
        kind: 'preview',
        source: await openSide(opening, source, use, configs.srcConfig),
        // Its secrets are opened only if they are needed.
        destination: opensDestination
          ? await openSide(opening, destination, use, configs.destConfig)
          : { slug: destination.connector.slug, secrets: {}, settings: configs.destConfig },
        unmapped,
        partial,
        ...(body.formsOf !== undefined && { formsOf: body.formsOf }),
        showing: showingTo(actor, body.view),
        rules: (await findRules.first(database, { accountId: account.id, connectionId }))?.rules ?? [],
        purposes: await purposesOf(database, account.id),
        noAnswerMs,
        inspectionMs,
        deadlineMs: previewTimeoutMs,
      },
      account,
      signal,
      new JobHost(opening, opensDestination ? [source, destination] : [source]),
    )
  }
  const result = await withPresentSecrets(secretManagers, ask, codeOf)
  if (!result.ok) {
    const { side = 'Source', ...failure } = result.failure
    const field = side === 'Destination' ? 'destConnector' : 'srcConnector'
    const cause = viewError({ ...failure, side }, row)
    throw new Refusal('platform_refused', [{ field, message: failure.message }], undefined, cause)
  }
  if ('fieldErrors' in result.value) {
    const cause = viewError(columnsDoNotFit(result.value.fieldErrors), row)
    throw new Refusal('platform_refused', result.value.fieldErrors, undefined, cause)
  }
  const { preview } = result.value
  const view = body.view === undefined ? {} : { view: { id: body.view, of: configs.srcConfig } }
  if (unmapped || partial || preview.findings.length >= limits.previewFindingsMax) return { reply: preview, ...view }
  const connectors = { source: source.connector, destination: destination.connector }
  const of = { accountId: account.id, connectionId: row.id }
  const state = await findState.first(database, of)
  const afresh = state && startsAfresh(catalogue, { ...state, ...configs })
  const again = { connectionId: row.id, ...configs, forgets: afresh !== undefined }
  const consequences = await consequencesOf(database, connectors, again)
  const added = [
    ...(afresh === undefined ? [] : [{ code: 'state_forgotten' as const, message: afresh }]),
    ...consequences,
  ]
  const findings = [...preview.findings, ...added.map((one) => ({ ...one, column: null }))].slice(
    0,
    limits.previewFindingsMax,
  )
  return { reply: { ...preview, findings }, ...view }
}
