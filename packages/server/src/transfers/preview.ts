import { asOutcome, type Row } from '@penstock/connector'
import { type BodyOf, limits, type Preview } from '@penstock/wire'
import { requireReady } from '../connections/ends.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Database } from '../db/database.ts'
import type { ActingAccount } from '../http/call.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { movingEnds, openContext, type Reach, settingsOf } from './ends.ts'
import { planRows, planUnmapped } from './map-rows.ts'
import { lintRows } from './mapping/lint.ts'
import { isPersonal, shorten } from './mapping/shorten.ts'
import { readRunTimeConfigs, requireConnection, requireIntegrated } from './transfers.ts'

const previewTimeoutMs = 30_000

/** Reads a few records and maps them, or shows what there is to be mapped; sends nothing. */
export async function previewConnection(
  db: Database,
  deps: { catalogue: Catalogue; keyring: Keyring; reach: Reach },
  account: ActingAccount,
  connectionId: string,
  body: BodyOf<'previewConnection'>,
  signal: AbortSignal,
): Promise<Preview> {
  const row = await requireConnection(db, account, connectionId)
  if (row.status === 'deleted') refuse('connection_deleted')
  requireIntegrated(deps.catalogue, row)
  const given = readRunTimeConfigs(deps.catalogue, row, body)
  const configs = {
    srcConfig: { ...row.srcConfig, ...given.srcConfig },
    destConfig: { ...row.destConfig, ...given.destConfig },
  }
  await db.transaction((tx) => requireReady(tx, deps.catalogue, { ...row, ...configs }))
  const { source, destination, open } = movingEnds(deps.catalogue, row)
  const timely = AbortSignal.any([signal, AbortSignal.timeout(previewTimeoutMs)])
  const end = { role: 'Source', settings: configs.srcConfig } as const
  const context = await openContext(db, deps, source, account.id, end, timely)
  try {
    const reader = await open({ ...context, marker: undefined })
    try {
      return await preview(reader.read(), (columns) =>
        body.unmapped
          ? planUnmapped(columns)
          : planRows(destination, columns, settingsOf(destination, 'Destination', configs.destConfig)),
      )
    } finally {
      await reader.close()
    }
  } catch (error) {
    const outcome = asOutcome(error)
    if (outcome) refuse('platform_refused', [{ field: 'srcConnector', message: outcome.message }])
    if (timely.aborted && !signal.aborted) {
      refuse('platform_refused', [
        { field: 'srcConnector', message: 'The source did not answer in time: try again later.' },
      ])
    }
    throw error
  }
}

async function preview(
  chunks: AsyncIterable<{ columns: readonly string[]; rows: readonly Row[]; faults?: ReadonlyMap<number, string> }>,
  planFor: (columns: readonly string[]) => ReturnType<typeof planRows>,
): Promise<Preview> {
  const raws: Row[] = []
  const broken = new Map<number, string>()
  let columns: readonly string[] | undefined
  for await (const chunk of chunks) {
    columns = chunk.columns
    for (const [i, reason] of chunk.faults ?? []) broken.set(raws.length + i, reason)
    raws.push(...chunk.rows.slice(0, limits.previewRowsMax - raws.length))
    if (raws.length >= limits.previewRowsMax) break
  }
  if (!columns) return { columns: [], rows: [], rejected: [], lint: [] }
  const { mapping, faults } = planFor(columns)
  if (!mapping) refuse('platform_refused', faults)
  const mapped = mapping.map({ rows: raws, faults: broken })
  const isFit = (i: number) => !broken.has(i) && !mapped.faults.has(i)
  return {
    columns: [...mapping.columns],
    rows: mapped.rows
      .filter((_, i) => isFit(i))
      .map((cells) =>
        cells.map((cell, i) => shorten(cell, isPersonal(mapping.plan.steps[i] as (typeof mapping.plan.steps)[number]))),
      ),
    rejected: raws.flatMap((_, i) => {
      const reason = broken.get(i)
      const fault = reason === undefined ? mapped.faults.get(i) : { field: null, reason }
      return fault ? [{ row: i + 1, field: fault.field, reason: fault.reason }] : []
    }),
    lint: lintRows(
      mapping.plan,
      raws.filter((_, i) => !broken.has(i)),
    ),
  }
}
