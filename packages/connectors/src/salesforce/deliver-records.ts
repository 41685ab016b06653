import { asConnectorError, ConnectorError, type DestinationContext, type Rejection } from '@penstock/connector'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import { csvOf } from './csv.ts'
import {
  abortJob,
  assertUsable,
  awaitJob,
  closeJob,
  createJob,
  type IngestJob,
  isOver,
  listJobs,
  readJob,
  readResults,
  uploadRows,
} from './ingest-jobs.ts'
import { haveContent, recordErrorOf, SentRecords } from './results.ts'
import type { SentRecord } from './rows.ts'
import type { Salesforce } from './salesforce-api.ts'
import type { SalesforceTarget } from './target.ts'

/** Jobs of one writer. */
export type Work = {
  readonly salesforce: Salesforce
  readonly target: SalesforceTarget
  readonly waits: { readonly totalMs: number; readonly signal: AbortSignal }
  /** Jobs whose rows are counted already, by earlier batches. */
  readonly known: ReadonlySet<string>
  /** Resolves with the jobs of an earlier attempt that may have the first rows of this writer. Empty after the first call. */
  earlier: () => Promise<readonly IngestJob[]>
}

/** The result of records: rejections, and the jobs that had them. */
export type Delivered = {
  readonly rejected: readonly Rejection[]
  readonly bytes: number
  readonly jobs: readonly IngestJob[]
}

/** How often rows are sent that were locked, or that Salesforce did not come to. */
const attemptsMax = 3
const uploadsMax = 2
/** Clocks of two machines that were compared are no further apart. */
const marginMs = 5_000

/**
 * Finds the jobs that an earlier attempt of the transfer may have begun: of the same kind, since the transfer was started, and
 * not before the last job that was confirmed. The results of a job show whether it has the rows.
 */
export async function earlierJobs(
  { salesforce, target, known }: Pick<Work, 'salesforce' | 'target' | 'known'>,
  { startedTime }: Pick<DestinationContext, 'startedTime'>,
  confirmedMs: number,
): Promise<readonly IngestJob[]> {
  const { jobs, aheadMs } = await listJobs(salesforce.client, target.kind)
  const sinceMs = Math.max(confirmedMs, Date.parse(startedTime) + aheadMs - marginMs)
  return jobs.filter(({ id, created }) => created >= sinceMs && !known.has(id))
}

/** Sends records, again if they were locked, and resolves once each is stored or refused. */
export async function deliverRecords(work: Work, records: readonly SentRecord[]): Promise<Delivered> {
  const blamed: RowBlame[] = []
  const jobs: IngestJob[] = []
  const used = new Set(work.known)
  const places = new Map(records.map((record, at) => [record, at]))
  let bytes = 0
  let left = records
  let sent = 0
  for (let attempt = 1; left.length > 0; attempt++) {
    const found = await findJob(work, used, left)
    const { job, bytes: sentBytes } = found ?? (await sendJob(work, left))
    bytes += sentBytes
    used.add(job.id)
    jobs.push(job)
    if (!found) {
      sent++
      assertUsable(job)
    }
    const { failed, unnamed, unprocessed } = await resultOf(work, job, left)
    blamed.push(...unnamed)
    const again: SentRecord[] = []
    for (const { record, text } of failed) {
      const { locked, ...why } = recordErrorOf(text, work.target.columns)
      if (locked && attempt < attemptsMax) again.push(record)
      else blamed.push({ at: places.get(record) ?? -1, ...why })
    }
    if (unprocessed.length > 0 && sent >= attemptsMax) {
      const message = `Salesforce ended the job ${job.id} (${job.state}) without processing ${unprocessed.length} rows. They are sent again.`
      throw new ConnectorError('platform_error', message)
    }
    left = [...unprocessed, ...again]
  }
  return { rejected: rejectionsOf(records, blamed), bytes, jobs }
}

/** A job of an earlier attempt with exactly these records. */
async function findJob(
  { salesforce: { client }, target, waits, earlier }: Work,
  used: ReadonlySet<string>,
  records: readonly SentRecord[],
) {
  for (const listed of await earlier()) {
    if (used.has(listed.id)) continue
    const job = await (isOver(listed) ? readJob(client, listed.id) : awaitJob(client, listed, waits)).catch(unlessGone)
    const { length } = records
    if (!job || (job.processed ?? 0) > length) continue
    if (job.state === 'JobComplete' && job.processed !== length) continue
    const tables = await Promise.all(results.map((result) => readResults(client, job, result)))
    if (haveContent(tables, target.columns, records)) return { job, bytes: 0 }
  }
  return undefined
}

const results = ['successfulResults', 'failedResults', 'unprocessedrecords'] as const

const unlessGone = (error: unknown): undefined => {
  if (asConnectorError(error)?.code !== 'object_not_found') throw error
}

/** Sends records in a separate job, and waits for it. Stopping the work stops the job too. */
async function sendJob(work: Work, records: readonly SentRecord[]) {
  const { salesforce, target, waits } = work
  const csv = csvOf(
    target.columns,
    records.map(({ cells }) => cells),
  )
  const job = await uploadJob(work, csv)
  try {
    return { job: await awaitJob(salesforce.client, job, waits), bytes: Buffer.byteLength(csv) }
  } catch (error) {
    if (waits.signal.aborted) await abortJob(salesforce, job)
    throw error
  }
}

/**
 * Begins a job with rows. Salesforce refuses an upload that is repeated, as after a lost connection. Then another job is begun.
 */
async function uploadJob({ salesforce, target }: Work, csv: string): Promise<IngestJob> {
  const { client } = salesforce
  for (let attempt = 1; ; attempt++) {
    const job = await createJob(client, target.kind)
    try {
      await uploadRows(client, job, csv)
      await closeJob(client, job)
      return job
    } catch (error) {
      await abortJob(salesforce, job)
      if (attempt === uploadsMax || asConnectorError(error)?.code !== 'request_refused') throw error
    }
  }
}

type Failed = { readonly record: SentRecord; readonly text: string }
type Result = {
  readonly failed: readonly Failed[]
  readonly unnamed: readonly RowBlame[]
  readonly unprocessed: readonly SentRecord[]
}

/** The result of each record of a job. Throws `unexpected_response` if Salesforce does not report it for every record. */
async function resultOf(work: Work, job: IngestJob, records: readonly SentRecord[]): Promise<Result> {
  const { target, salesforce } = work
  const isWhole = job.state === 'JobComplete' && job.processed === records.length
  if (isWhole && job.failed === 0) return { failed: [], unnamed: [], unprocessed: [] }
  const sent = new SentRecords(target.columns, records, target.key, target.identityOf)
  const failedTable = await readResults(salesforce.client, job, 'failedResults')
  const at = failedTable.columns.findIndex((column) => column.toLowerCase() === 'sf__error')
  const texts = failedTable.rows.map((row) => row[at] ?? '')
  const found = sent.take(failedTable)
  const failed = found.flatMap((record, index) => (record ? [{ record, text: texts[index] ?? '' }] : []))
  if (isWhole && failed.length === job.failed && failed.length === texts.length) {
    return { failed, unnamed: [], unprocessed: [] }
  }
  const [unprocessedTable, successful] = await Promise.all([
    readResults(salesforce.client, job, 'unprocessedrecords'),
    readResults(salesforce.client, job, 'successfulResults'),
  ])
  const unprocessed = sent.take(unprocessedTable)
  const stored = sent.take(successful)
  const unnamedFailures = found.flatMap((record, index) => (record ? [] : [texts[index] ?? '']))
  const strange = unnamedFailures.length + stored.filter((record) => !record).length
  if (unprocessed.includes(undefined) || strange !== sent.rest.length) {
    const message = `Salesforce reports other rows in the job ${job.id} than were sent. Look at Bulk Data Load Jobs in Setup for what became of them before you start the transfer again.`
    throw new ConnectorError('unexpected_response', message)
  }
  const unnamed = unnamedFailures.map((text) => ({ count: 1, reason: recordErrorOf(text, target.columns).reason }))
  return { failed, unnamed, unprocessed: unprocessed.filter((record) => record !== undefined) }
}
