import type { Row } from '@penstock/connector'
import type { FieldError, Preview } from '@penstock/wire'
import { limits } from '@penstock/wire/rules'
import { inspectDestination } from './inspect.ts'
import { type PlannedRows, planRows, planUnmapped } from './map-rows.ts'
import { lintRows } from './mapping/lint.ts'
import { isPersonal, shorten } from './mapping/shorten.ts'
import type { JobValues, PreviewJob } from './protocol.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { sideSettings } from './settings.ts'
import { type SideSecrets, withoutSecrets } from './side-secrets.ts'

/**
 * Reads a few rows, maps them and inspects the destination; or shows what there is to be mapped. Sends nothing.
 * Throws a `ConnectorError`, or the signal's reason once that is aborted.
 */
export async function runPreview(
  job: PreviewJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<JobValues['preview']> {
  const source = await runtime.loadConnector(job.source.slug)
  const destination = await runtime.loadConnector(job.destination.slug)
  const open = source.source?.open
  if (!open) throw new Error('The source of this preview moves no data')
  const deadline = performance.now() + job.deadlineMs
  const { context, redact } = openContext(runtime, source, 'Source', job.source, signal)
  const looked = await withoutSecrets(
    redact,
    async () => {
      const reader = await open({ ...context, cursor: undefined })
      try {
        return await look(reader.read(), redact, (columns) =>
          job.unmapped
            ? planUnmapped(columns)
            : planRows(destination, columns, sideSettings(destination, 'Destination', job.destination.settings)),
        )
      } finally {
        await reader.close()
      }
    },
    'Source',
  )
  if (looked.fieldErrors) return { fieldErrors: looked.fieldErrors }
  const { preview, sent } = looked
  if (job.unmapped || !sent) return { preview: { ...preview, findings: [] } }
  const boundMs = Math.min(job.inspectionMs, deadline - performance.now() - answerMs)
  const side = openContext(runtime, destination, 'Destination', job.destination, signal)
  const findings = await inspectDestination(destination, { ...side.context, ...sent }, side.redact, boundMs)
  return { preview: { ...preview, findings } }
}

/** What is left of the deadline for the answer. */
const answerMs = 1_000

type Looked =
  | { readonly fieldErrors: readonly FieldError[] }
  | {
      readonly fieldErrors?: never
      readonly preview: Omit<Preview, 'findings'>
      /** What would be sent; absent where the source has no columns. */
      readonly sent?: { readonly columns: readonly string[]; readonly rows: readonly Row[] }
    }

async function look(
  chunks: AsyncIterable<{ columns: readonly string[]; rows: readonly Row[]; errors?: ReadonlyMap<number, string> }>,
  redact: SideSecrets['redact'],
  planFor: (columns: readonly string[]) => Promise<PlannedRows>,
): Promise<Looked> {
  const raws: Row[] = []
  const broken = new Map<number, string>()
  let columns: readonly string[] | undefined
  for await (const chunk of chunks) {
    columns = chunk.columns
    for (const [i, reason] of chunk.errors ?? []) {
      broken.set(raws.length + i, redact(reason))
    }
    raws.push(...chunk.rows.slice(0, limits.previewRowsMax - raws.length))
    if (raws.length >= limits.previewRowsMax) break
  }
  if (!columns) return { preview: { columns: [], rows: [], rejected: [], lint: [] } }
  const { mapping, fieldErrors } = await planFor(columns)
  if (!mapping) return { fieldErrors }
  const mapped = mapping.map({ rows: raws, errors: broken })
  const isValid = (i: number) => !broken.has(i) && !mapped.errors.has(i)
  const sent = { columns: mapping.columns, rows: mapped.rows.filter((_, i) => isValid(i)) }
  const shown = {
    columns: [...mapping.columns],
    rows: sent.rows.map((cells) =>
      cells.map((cell, i) => shorten(cell, isPersonal(mapping.plan.steps[i] as (typeof mapping.plan.steps)[number]))),
    ),
    rejected: raws.flatMap((_, i) => {
      const reason = broken.get(i)
      const fieldError = reason === undefined ? mapped.errors.get(i) : { field: null, reason }
      return fieldError ? [{ row: i + 1, field: fieldError.field ?? null, reason: fieldError.reason }] : []
    }),
    lint: lintRows(
      mapping.plan,
      raws.filter((_, i) => !broken.has(i)),
    ),
  }
  return { preview: shown, sent }
}
