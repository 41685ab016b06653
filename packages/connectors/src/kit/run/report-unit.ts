import { asConnectorError, type Cell, ConnectorError } from '@penstock/connector'
import { mayBeInexact } from '@penstock/connector/files'
import type { Answer } from '../../platform-api/call.ts'
import type { JsonObject } from '../../platform-api/json.ts'
import { cursorIn } from '../../platform-api/next-page.ts'
import { pagesOf } from '../../platform-api/polling.ts'
import type { FileReport, JobReport, PagesReport, ReportForm, ReportRequest } from '../report-facts.ts'
import { credentialsOf } from './open-api.ts'
import { exactJson } from './report-cells.ts'
import { openReportFile, rowsOfFile } from './report-file.ts'
import { type DoneReport, finishReport } from './report-jobs.ts'
import { asksOf } from './report-plan.ts'
import type { ReportPiece, ReportPosition, ReportReading } from './report-reading.ts'

/** Rows that are handed on together. */
const rowsMax = 2_000
/** Rows that are in memory together if a report takes several requests. */
const mergedMax = 200_000
/** A page that is too large is requested with fewer rows, but with at least this number. */
const pageRowsMin = 10

/** Reads the report of some days of one account, from a position or from its beginning. */
export async function* readUnit(
  reading: ReportReading,
  to: ReportRequest,
  from: ReportPosition = {},
): AsyncGenerator<ReportPiece> {
  const { parts } = reading.facts
  if (!parts) return yield* readPart(reading, to, from)
  const listed = [...new Set(await parts.list(reading.client, to))].sort()
  const behind = from.ids?.at(-1) ?? from.after
  const left = behind === undefined ? listed : listed.filter((id) => id > behind)
  const groups = [...(from.ids ? [from.ids] : []), ...together(left, parts)]
  if (groups.length === 0) yield { rows: [], bytes: 0, next: undefined }
  let begin = from.ids ? from : {}
  for (let ids = groups.shift(); ids; ids = groups.shift()) {
    let hasRows = begin.cursor !== undefined || begin.skip !== undefined
    try {
      for await (const piece of readPart(reading, { ...to, ids }, begin)) {
        hasRows ||= piece.rows.length > 0
        const end = groups.length === 0 ? undefined : { after: ids.at(-1) }
        yield { ...piece, next: piece.next ? { ...piece.next, ids } : end }
      }
    } catch (error) {
      // Rows that were delivered would be repeated.
      if (hasRows || ids.length === 1 || !isTooLarge(error)) throw error
      const middle = Math.ceil(ids.length / 2)
      groups.unshift(ids.slice(0, middle), ids.slice(middle))
    }
    begin = {}
  }
}

/** Parts in their order, as requests take them. */
function together(listed: readonly string[], { atOnce, groupOf }: NonNullable<ReportReading['facts']['parts']>) {
  const groups: string[][] = []
  for (const id of listed) {
    const last = groups.at(-1)
    const isFull = last === undefined || last.length === atOnce || groupOf?.(id) !== groupOf?.(last[0] ?? '')
    if (isFull) groups.push([id])
    else last.push(id)
  }
  return groups
}

async function* readPart(reading: ReportReading, to: ReportRequest, from: ReportPosition): AsyncGenerator<ReportPiece> {
  const { facts, cells } = reading
  const form: ReportForm = typeof facts.report === 'function' ? facts.report(to) : facts.report
  const rowsOf = (items: readonly JsonObject[]): Cell[][] => items.map((item) => cells.rowOf(item, to))
  if (form.form === 'pages') {
    const groups = groupsOf(to.metrics, facts.metricsMax)
    if (groups.length > 1) return yield* readMerged(reading, form, to, groups, from)
    for await (const { items, bytes, next } of readPages(reading, form, to, from)) {
      yield { rows: rowsOf(items), bytes, next }
    }
    return
  }
  let position = from
  for (;;) {
    const done = yield* finishReport(reading, form, to, position)
    // The pages of a report that was started again are others.
    if (done.job !== position.job) position = { job: done.job }
    const pieces =
      form.form === 'job' ? readJob(reading, form, to, done, position) : readFile(reading, form, to, done, position)
    for await (const { items, bytes, next } of pieces) yield { rows: rowsOf(items), bytes, next }
    if (form.discard) await reading.client.ask(form.discard(done.job, to)).catch(() => {})
    return
  }
}

type Items = {
  readonly items: readonly JsonObject[]
  readonly bytes: number
  readonly next: ReportPosition | undefined
}

function readPages(
  reading: ReportReading,
  form: PagesReport,
  to: ReportRequest,
  from: ReportPosition,
): AsyncGenerator<Items> {
  return pagedRows(reading, to, form, (cursor, asked) => form.page(asked, cursor), from)
}

function readJob(
  reading: ReportReading,
  form: JobReport,
  to: ReportRequest,
  { job, answer }: DoneReport,
  from: ReportPosition,
) {
  return pagedRows(reading, to, form, (cursor, asked) => form.page(job, cursor, asked, answer), from)
}

async function* pagedRows(
  { client, api }: ReportReading,
  to: ReportRequest,
  form: Pick<PagesReport, 'rows' | 'next' | 'pageRows'>,
  callOf: (cursor: string | undefined, to: ReportRequest) => ReturnType<PagesReport['page']>,
  { job, cursor: begin, skip = 0 }: ReportPosition,
): AsyncGenerator<Items> {
  let { pageRows } = form
  const ask = async (cursor: string | undefined): Promise<Answer> => {
    for (;;) {
      try {
        return await client.ask(callOf(cursor, { ...to, ...(pageRows !== undefined && { pageRows }) }))
      } catch (error) {
        if (pageRows === undefined || pageRows <= pageRowsMin || !isTooLarge(error)) throw error
        pageRows = Math.max(pageRowsMin, Math.floor(pageRows / 4))
      }
    }
  }
  const read = async (cursor: string | undefined) => {
    const answer = exact(await ask(cursor))
    const items = answer.json === undefined ? undefined : form.rows(answer, to)
    if (!items) throw new ConnectorError('malformed_response', `${api.name} did not answer with a report.`)
    const next = cursorIn(form.next?.(answer, { cursor, rows: items.length, to }), api.name)
    return { items, next, bytes: Buffer.byteLength(answer.text) }
  }
  let skipped = skip
  for await (const { items, next, bytes, cursor } of pagesOf(read, begin)) {
    for (let at = Math.min(skipped, items.length); ; at += rowsMax) {
      const end = at + rowsMax
      const isEnd = end >= items.length
      const place = isEnd ? (next === undefined ? undefined : { job, cursor: next }) : { job, cursor, skip: end }
      yield { items: items.slice(at, end), bytes: at === 0 ? bytes : 0, next: place }
      if (isEnd) break
    }
    skipped = 0
  }
}

/** An answer whose numbers keep all their digits. */
const exact = (answer: Answer): Answer =>
  answer.json !== undefined && mayBeInexact(answer.text) ? { ...answer, json: exactJson(answer.text) } : answer

/** Reads a report whose metrics need several requests. Rows with the same key become one. */
async function* readMerged(
  reading: ReportReading,
  form: PagesReport,
  to: ReportRequest,
  groups: readonly (readonly string[])[],
  { skip = 0 }: ReportPosition,
): AsyncGenerator<ReportPiece> {
  const { facts, plan, cells, api } = reading
  const keys = plan.key.map((name) => cells.names.indexOf(name))
  const merged = new Map<string, Cell[]>()
  let bytes = 0
  for (const metrics of groups) {
    const asked = { ...to, metrics, asks: asksOf(facts, plan, metrics) }
    for await (const page of readPages(reading, form, asked, {})) {
      bytes += page.bytes
      for (const item of page.items) {
        const row = cells.rowOf(item, asked)
        const key = JSON.stringify(keys.map((index) => row[index]))
        const known = merged.get(key)
        merged.set(key, known ? known.map((cell, index) => cell ?? row[index] ?? null) : row)
      }
      if (merged.size > mergedMax) throw tooLarge(`A report of ${api.name} has more than ${mergedMax} rows.`)
    }
  }
  const rows = [...merged.values()]
  for (let at = Math.min(skip, rows.length); ; at += rowsMax) {
    const isEnd = at + rowsMax >= rows.length
    yield {
      rows: rows.slice(at, at + rowsMax),
      bytes: at === 0 ? bytes : 0,
      next: isEnd ? undefined : { skip: at + rowsMax },
    }
    if (isEnd) return
  }
}

function groupsOf(metrics: readonly string[], most = metrics.length): readonly (readonly string[])[] {
  const groups: (readonly string[])[] = []
  for (let at = 0; at < metrics.length; at += most) groups.push(metrics.slice(at, at + most))
  return groups
}

/** Reads a file row by row. It resumes behind rows that were read before, in the file of the same job. */
async function* readFile(
  { facts, api, client }: ReportReading,
  form: FileReport,
  to: ReportRequest,
  { job, answer }: DoneReport,
  { skip = 0 }: ReportPosition,
): AsyncGenerator<Items> {
  const name = `The report of ${api.name}`
  const open = async (done: Answer) => {
    const file = form.file(done, to, job)
    return file && (await openReportFile(to.context, api, file, () => credentialsOf(to.context, api, facts.auth)))
  }
  let opened = await open(answer)
  // The address may have expired while earlier rows were delivered. The platform creates another one.
  if (opened === 'gone') opened = await open(await client.askObject(form.state(job, to)))
  if (opened === 'gone') throw new ConnectorError('platform_error', `${api.name} did not return the report.`)
  if (opened === undefined) return yield { items: [], bytes: 0, next: undefined }
  let bytes = 0
  let before = 0
  let items: JsonObject[] = []
  for await (const row of rowsOfFile(counted(opened.bytes), form.content, to, name)) {
    if (before < skip) {
      before += 1
      continue
    }
    if (items.length === rowsMax) {
      before += items.length
      yield { items, bytes, next: { job, skip: before } }
      items = []
      bytes = 0
    }
    items.push(row)
  }
  yield { items, bytes, next: undefined }

  async function* counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      bytes += piece.length
      yield piece
    }
  }
}

/** That a report is too large: its days are halved. */
export const tooLarge = (message: string): ConnectorError => new ConnectorError('response_too_large', message)

/** Whether an error means that the report is too large. */
export function isTooLarge(error: unknown): boolean {
  const code = asConnectorError(error)?.code
  return code === 'response_too_large' || code === 'batch_too_large'
}
