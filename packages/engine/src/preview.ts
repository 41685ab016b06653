import {
  asConnectorError,
  type Cell,
  type Chunk,
  type ChunkWindow,
  type Connector,
  type Egress,
  type Rejection,
  type Row,
  type RowFault,
  type Values,
} from '@penstock/connector'
import type { FieldError, Preview } from '@penstock/wire'
import { limits } from '@penstock/wire/rules'
import { inspectDestination } from './inspect.ts'
import { type ColumnTypes, planFittingRows, planRows, planUnmapped, type RowMapping } from './map-rows.ts'
import { lintRows } from './mapping/lint.ts'
import { isPersonal, type Showing, shorten } from './mapping/shorten.ts'
import { proposalsFor, readingsFor, sourceTypesOf, takesReadings } from './preview-proposals.ts'
import { previewRoute } from './preview-route.ts'
import { passStages, previewState, type StagedRows } from './preview-stages.ts'
import { ofFirstTable } from './preview-table.ts'
import { tryRows } from './preview-tried-rows.ts'
import { tryMapping } from './preview-tries.ts'
import { ProposalRows } from './proposal-rows.ts'
import type { JobValues, PreviewJob } from './protocol.ts'
import { quoteValues } from './quoted-reasons.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { sideSettings } from './settings.ts'
import { type SideSecrets, withoutSecrets } from './side-secrets.ts'
import { skipCode } from './skipped.ts'
import { settingErrorsOf, whyValues } from './transfer/stages/stages.ts'
import { scopeAt } from './transfer/windows.ts'

/**
 * Reads a few rows, maps them and inspects the destination; or shows the columns that can be mapped. Sends nothing. Throws a
 * `ConnectorError`, or the signal's reason once the signal is aborted.
 */
export async function runPreview(
  asked: PreviewJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<JobValues['preview']> {
  const job = await ofFirstTable(asked, runtime, signal)
  const source = await runtime.loadConnector(job.source.slug)
  const destination = await runtime.loadConnector(job.destination.slug)
  const open = source.source?.open
  if (!open) throw new Error('The source of this preview moves no data')
  const deadline = performance.now() + job.deadlineMs
  const settings = sideSettings(destination, 'Destination', job.destination.settings)
  const state = previewState(job, settings)
  const reading = job.unmapped ? readsNothing : await readByDestination(destination, settings, job.destination.secrets)
  const { context, redact } = openContext(runtime, source, 'Source', job.source, signal)
  const looked = await withoutSecrets(
    redact,
    async () => {
      const egress = withNoAnswer(context.egress, job.noAnswerMs)
      const reader = await open({ ...context, egress, cursor: undefined, sample: { noAnswerMs: job.noAnswerMs } })
      try {
        const proposed = new ProposalRows(
          job.unmapped && takesReadings(destination) && reader.total?.bytes !== undefined,
        )
        const seen = await look(reader.read(), redact, {
          proposed,
          planFor: (columns) => {
            if (job.unmapped) return planUnmapped(columns)
            const values = { settings, secrets: job.destination.secrets, purposes: job.purposes }
            const plan = job.partial ? planFittingRows : planRows
            return plan(destination, columns, values, settingErrorsOf)
          },
          showing: job.showing,
          ...(job.partial && { tried: { filter: settings.filter, formsOf: job.formsOf } }),
          staysBy: ({ plan }, window) =>
            destination.destination?.deliver &&
            scopeAt(destination.destination.deliver, settings, plan.steps, window).stays,
          rejectionsOf: reading.rejectionsOf,
          pass: job.unmapped ? asIs : (all, mapping) => passStages(state, runtime, signal, all, mapping),
        })
        if (seen.fieldErrors || job.unmapped || !seen.sent) return { ...seen, findings: [], proposed }
        const boundMs = Math.min(sourceFindingsMs, (deadline - performance.now()) / 2 - answerMs)
        const findings = boundMs > 0 ? ((await reader.findings?.(boundMs)) ?? []) : []
        const { stays } = seen
        return {
          ...seen,
          proposed,
          findings: [
            ...findings.map(({ code, message }) => ({ code, message: redact(message), column: null })),
            ...(stays === undefined ? [] : [vanishedRowsStay(source, stays)]),
          ],
        }
      } finally {
        await reader.close()
      }
    },
    'Source',
  )
  if (looked.fieldErrors) return { fieldErrors: looked.fieldErrors }
  const { preview, sent, findings: found, staged, proposed } = looked
  if (job.unmapped) {
    const proposals = await proposalsFor(destination, preview, settings)
    if (!sent) return { preview: { ...preview, findings: found, ...proposals } }
    const of = { columns: sent.columns, types: sent.types, rows: proposed.rows }
    const readings = await readingsFor(destination, of, job.showing, redact)
    const sampled = !of.types && { sampled: { rows: proposed.read, whole: proposed.isWhole } }
    return { preview: { ...preview, findings: found, ...proposals, ...readings, ...sourceTypesOf(of), ...sampled } }
  }
  if (!sent || job.partial) return { preview: { ...preview, findings: found } }
  const boundMs = Math.min(job.inspectionMs, deadline - performance.now() - answerMs)
  const side = openContext(runtime, destination, 'Destination', job.destination, signal)
  const unread = reading.findings.map((finding) => ({ ...finding, message: side.redact(finding.message) }))
  const inspected = await inspectDestination(destination, { ...side.context, ...sent }, side.redact, boundMs)
  const others = inspected.filter(({ message }) => !unread.some((finding) => finding.message === message))
  const bound = deadline - performance.now() - answerMs
  const tried = await tryRows(destination, { ...side.context, ...sent }, side.redact, bound, inspected.length > 0)
  const findings = [...found, ...unread, ...staged.findings, ...others, ...tried.findings]
  const route = await previewRoute(
    { connector: source, context, redact },
    { connector: destination, ...side },
    whyValues(state),
    signal,
    deadline - performance.now() - answerMs,
  )
  const refused = tried.rejected.flatMap((rejection): Preview['rejected'] => {
    const { index } = rejection
    const row = index === undefined ? undefined : sent.numbers[index]
    // The values as the preview shows them.
    const quoted = quoteValues(rejection, sent.columns, preview.rows)
    return row === undefined ? [] : [{ row, ...faultsOf(quoted, side.redact) }]
  })
  const rejected = [...preview.rejected, ...refused].sort((a, b) => a.row - b.row)
  findings.push(...(await staged.judge(rejected)))
  const isRefused = new Set(refused.map(({ row }) => row))
  return {
    preview: {
      ...preview,
      rows: preview.rows.filter((_, at) => !isRefused.has(sent.numbers[at] as number)),
      rejected,
      ...(tried.createdColumns && { createdColumns: tried.createdColumns }),
      findings: findings.slice(0, limits.previewFindingsMax),
      ...route,
    },
  }
}

const vanishedRowsStay = ({ name }: Connector, why: string): Preview['findings'][number] => ({
  code: 'vanished_rows_stay',
  message: `Records that ${name} does not report any more stay at the destination: ${why}.`,
  column: null,
})

/**
 * The same egress, with a limit: a server that streams a file can be silent for at most `noAnswerMs`. Other responses have no
 * such limit, because a statement can take longer.
 */
const withNoAnswer = (egress: Egress, noAnswerMs: number): Egress => ({
  ...egress,
  request: (url, init = {}) =>
    egress.request(
      url,
      init.streams ? { ...init, timeoutMs: Math.min(init.timeoutMs ?? Number.POSITIVE_INFINITY, noAnswerMs) } : init,
    ),
})

/** Maximum duration of finding out which data of the source is not read. */
const sourceFindingsMs = 5_000

/** Part of the deadline that is reserved for the answer. */
const answerMs = 1_000

/** Why a row would be rejected, and the column that causes it, if there is one. */
type RowError = Omit<Preview['rejected'][number], 'row'>

/** The faults of a row as they are shown. */
function faultsOf(
  { others = [], ...first }: RowFault & { others?: readonly RowFault[] },
  redact: SideSecrets['redact'],
): RowError {
  const shown = ({ field, reason }: RowFault) => ({ field: field ?? null, reason: redact(reason) })
  return { ...shown(first), ...(others.length > 0 && { otherFaults: others.map(shown) }) }
}

type Looked =
  | { readonly fieldErrors: readonly FieldError[] }
  | {
      readonly fieldErrors?: never
      readonly preview: Omit<Preview, 'findings'>
      /** Why rows stay at the destination that are not in the source any more, if the source reads some of them again. */
      readonly stays?: string | undefined
      readonly staged: StagedRows
      /** The rows to send; absent if the source has no columns, or if only a part of the mapping is valid. */
      readonly sent?: Sent
    }

type Sent = {
  readonly columns: readonly string[]
  readonly types: ColumnTypes
  readonly rows: readonly Row[]
  /** The number of each in the source, from 1. */
  readonly numbers: readonly number[]
}

/** Rows that the destination would not send, by the code of its delivery. */
type RejectionsOf = (columns: readonly string[], rows: readonly Row[], types: ColumnTypes) => readonly Rejection[]

type Reading = { readonly rejectionsOf: RejectionsOf; readonly findings: Preview['findings'] }

const readsNothing: Reading = { rejectionsOf: () => [], findings: [] }

/**
 * If a transfer would fail because the settings do not allow rows to be read, this is a finding, and the rows are still shown.
 */
async function readByDestination({ destination }: Connector, settings: Values, secrets: Values): Promise<Reading> {
  try {
    const find = await destination?.deliver?.rejectionsOf?.({ settings, secrets })
    if (!find) return readsNothing
    // The key only generates IDs for events without an ID.
    const rejectionsOf: RejectionsOf = (columns, rows, types) =>
      rows.length === 0 ? [] : find({ key: '0'.repeat(32), columns, ...(types && { types }), rows, firstRow: 1 })
    return { rejectionsOf, findings: [] }
  } catch (error) {
    const connectorError = asConnectorError(error)
    if (!connectorError) throw error
    const { code, message } = connectorError
    return { ...readsNothing, findings: [{ code, message, column: null }] }
  }
}

/** The rows as the source has them. */
const asIs = ({ rows }: Chunk): StagedRows => ({
  mapped: { rows, errors: new Map() },
  findings: [],
  judge: async () => [],
})

/**
 * Reads the rows of a preview, and passes them through the stages. @param redact removes secrets from everything that is shown
 */
export async function look(
  chunks: AsyncIterable<Pick<Chunk, 'columns' | 'types' | 'rows' | 'errors' | 'removed' | 'window'>>,
  redact: SideSecrets['redact'],
  {
    planFor,
    staysBy,
    rejectionsOf,
    pass = asIs,
    showing = 'masked',
    tried,
    proposed,
  }: {
    staysBy: (mapping: RowMapping, window: ChunkWindow) => string | undefined
    planFor: (columns: readonly string[]) => Promise<{ mapping?: RowMapping; fieldErrors?: readonly FieldError[] }>
    rejectionsOf: RejectionsOf
    /** How values are shown; masked by default. */
    showing?: Showing
    /**
     * The condition whose values are shown next to the values of the expressions, and the field whose values are tried in every
     * form.
     */
    tried?: { readonly filter: unknown; readonly formsOf: string | undefined }
    /** Passes all rows through the stages; absent if they stay unchanged. */
    pass?: (all: Chunk, mapping: RowMapping) => Promise<StagedRows> | StagedRows
    /** Collects rows for proposals, also after the rows of the preview. */
    proposed?: ProposalRows
  },
): Promise<Looked> {
  const raws: Row[] = []
  const broken = new Map<number, string>()
  const removed = new Set<number>()
  let columns: readonly string[] | undefined
  let types: ColumnTypes
  let window: ChunkWindow | undefined
  const isFull = () => raws.length >= limits.previewRowsMax
  let isWhole = true
  try {
    for await (const chunk of chunks) {
      if (!isFull()) {
        columns = chunk.columns
        types ??= chunk.types
        window ??= chunk.window
        for (const [i, reason] of chunk.errors ?? []) {
          broken.set(raws.length + i, redact(reason))
        }
        for (const i of chunk.removed ?? []) removed.add(raws.length + i)
        raws.push(...chunk.rows.slice(0, limits.previewRowsMax - raws.length))
      }
      isWhole = proposed?.add(chunk) ?? !isFull()
      if (!isWhole && isFull()) break
    }
  } catch (error) {
    // A transfer reports errors behind the rows of the preview.
    if (!isFull() || !asConnectorError(error)) throw error
    isWhole = false
  }
  if (proposed) proposed.isWhole = isWhole
  const all = {
    columns: columns ?? [],
    rows: raws,
    errors: broken,
    ...(removed.size > 0 && { removed }),
    bytes: 0,
    checkpoint: null,
  }
  if (!columns)
    return {
      staged: asIs(all),
      preview: {
        columns: [],
        rows: [],
        filtered: 0,
        duplicates: 0,
        noConsent: 0,
        controlGroup: 0,
        rejected: [],
        lint: [],
      },
    }
  const { mapping, fieldErrors = [] } = await planFor(columns)
  if (!mapping) return { fieldErrors }
  const isValid = fieldErrors.length === 0
  const staged = await pass(all, mapping)
  const { mapped } = staged
  const isSkipped = (i: number) => !broken.has(i) && Boolean(mapped.skipped?.[i])
  const errors = new Map<number, RowError>()
  for (const [i, error] of mapped.errors)
    if (!isSkipped(i))
      errors.set(
        i,
        faultsOf(error, (text) => text),
      )
  for (const [i, reason] of broken) errors.set(i, { field: null, reason })
  const leftOut = (code: number) => raws.filter((_, i) => isSkipped(i) && mapped.skipped?.[i] === code).length
  const deliverable = [...mapped.rows.keys()].filter((i) => !errors.has(i) && !isSkipped(i))
  const show = (cell: Cell, at: number): string | null => {
    const shown = shorten(cell, isPersonal(mapping.plan.steps[at] as (typeof mapping.plan.steps)[number]), showing)
    // A server could return the credentials that it received as a value.
    return typeof shown === 'string' ? redact(shown) : shown
  }
  const judged = deliverable.map((i) => mapped.rows[i] as Row)
  for (const rejection of isValid ? rejectionsOf(mapping.columns, judged, mapping.typesOf(types)) : []) {
    const { index } = rejection
    const i = index === undefined ? undefined : deliverable[index]
    if (i !== undefined) {
      errors.set(i, faultsOf(quoteValues(rejection, mapping.columns, judged, show), redact))
    }
  }
  const kept = [...mapped.rows.entries()].filter(([i]) => !errors.has(i) && !isSkipped(i))
  const sent = {
    columns: mapping.columns,
    types: mapping.typesOf(types),
    rows: kept.map(([, row]) => row),
    numbers: kept.map(([i]) => i + 1),
  }
  const shown = {
    columns: [...mapping.columns],
    rows: sent.rows.map((cells) => cells.map(show)),
    filtered: leftOut(skipCode('filtered')),
    duplicates: leftOut(skipCode('duplicates')),
    noConsent: leftOut(skipCode('noConsent')),
    controlGroup: leftOut(skipCode('controlGroup')),
    rejected: [...errors].sort(([a], [b]) => a - b).map(([i, error]) => ({ row: i + 1, ...error })),
    lint: lintRows(
      mapping.plan,
      raws.filter((_, i) => !broken.has(i) && !isSkipped(i)),
      mapping.options,
      showing,
    ).map((lint) => ({
      ...lint,
      ...(lint.forms && {
        forms: lint.forms.map((form) => ({ ...form, example: form.example === null ? null : redact(form.example) })),
      }),
      samples: lint.samples.map(({ before, after }) => ({
        before: redact(before),
        after: after === null ? null : redact(after),
      })),
    })),
  }
  const stays = window && staysBy(mapping, window)
  const known = [...raws.entries()].filter(([i]) => !broken.has(i) && !removed.has(i))
  const rows = new Map(known.map(([i, row]) => [i + 1, row]))
  const tries = tried && (await tryMapping(mapping, { columns, rows }, { ...tried, showing, redact }))
  const preview = { ...shown, ...tries, ...(showing === 'masked' && { masked: true }) }
  return isValid
    ? { preview, sent, stays, staged }
    : { preview: { ...preview, mappingErrors: [...fieldErrors] }, staged }
}
