import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, numberIn, textIn } from '../platform-api/json.ts'
import { unusableNext } from '../platform-api/next-page.ts'
import { pagesOf, poll } from '../platform-api/polling.ts'
import { type TextTable, tableOf } from './csv.ts'
import { isSpent, type Salesforce } from './salesforce-api.ts'

/** Action of a job on its rows. */
export type Operation = 'insert' | 'update' | 'upsert' | 'delete'

/** Properties that all jobs of a connection share. */
export type JobKind = {
  readonly object: string
  readonly operation: Operation
  /** Only of an upsert. */
  readonly externalIdFieldName?: string
}

/** A job, as Salesforce describes it. */
export type IngestJob = {
  readonly id: string
  readonly state: string
  /** By the clock of Salesforce, in milliseconds since 1970. */
  readonly created: number
  /** Processed rows, including failed ones. `undefined` in lists. */
  readonly processed: number | undefined
  readonly failed: number | undefined
  /** The code of why the whole job failed. */
  readonly code: string | undefined
}

const path = '/jobs/ingest'
/** A table of results has the rows that were sent, and two columns more. */
const resultBytesMax = 96 << 20
const listPagesMax = 100
const closeAttempts = 3

/** Begins a job that has no rows yet, so that it does no harm if its answer is lost. */
export async function createJob(client: PlatformClient, kind: JobKind): Promise<IngestJob> {
  const body = { ...kind, contentType: 'CSV', lineEnding: 'LF', columnDelimiter: 'COMMA' }
  const { json } = await client.askObject({ method: 'POST', path, body, repeatable: true })
  return requireJob(json)
}

/** Uploads the rows of a job, which Salesforce accepts once. */
export async function uploadRows(client: PlatformClient, { id }: IngestJob, csv: string): Promise<void> {
  const headers = { 'content-type': 'text/csv; charset=UTF-8' }
  await client.ask({ method: 'PUT', path: `${path}/${id}/batches`, body: csv, headers, repeatable: false })
}

/** Starts the processing of a job. If the answer is lost, the state of the job shows it. */
export async function closeJob(client: PlatformClient, { id }: IngestJob): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const body = { state: 'UploadComplete' }
      await client.ask({ method: 'PATCH', path: `${path}/${id}`, body, repeatable: false })
      return
    } catch (error) {
      if (!asConnectorError(error)?.isTransient) throw error
      if ((await readJob(client, id)).state !== 'Open') return
      if (attempt === closeAttempts) throw error
    }
  }
}

/** Stops a job whose rows are not wanted any more. Never throws. */
export const abortJob = ({ undo }: Salesforce, { id }: IngestJob): Promise<void> =>
  undo({ method: 'PATCH', path: `${path}/${id}`, body: { state: 'Aborted' }, repeatable: false })

/** The present state of the job. */
export async function readJob(client: PlatformClient, id: string): Promise<IngestJob> {
  const { json } = await client.askObject({ path: `${path}/${id}` })
  const job = requireJob(json)
  if (job.id === id) return job
  throw new ConnectorError('malformed_response', 'Salesforce did not describe the job that was asked for.')
}

/** Whether nothing more happens to the rows of a job. */
export const isOver = ({ state }: IngestJob): boolean => ['JobComplete', 'Failed', 'Aborted'].includes(state)

/**
 * Waits for a job. Throws `timeout`, after which the transfer tries again and finds the job.
 * @param waits how long, in milliseconds, and until which signal
 */
export async function awaitJob(
  client: PlatformClient,
  { id }: IngestJob,
  waits: { readonly totalMs: number; readonly signal: AbortSignal },
): Promise<IngestJob> {
  const look = async () => {
    const job = await readJob(client, id)
    return isOver(job) ? job : undefined
  }
  const found = await poll(look, { firstMs: 500, mostMs: 10_000, ...waits })
  if (found) return found
  const seconds = Math.round(waits.totalMs / 1000)
  const message = `Salesforce did not finish the job ${id} within ${seconds} seconds. It is looked for again, and its rows are not sent twice.`
  throw new ConnectorError('timeout', message)
}

/** Rows of a job by what became of them, in no order. */
export const readResults = async (
  client: PlatformClient,
  { id }: IngestJob,
  result: 'successfulResults' | 'failedResults' | 'unprocessedrecords',
): Promise<TextTable> => {
  const headers = { accept: 'text/csv' }
  return tableOf((await client.ask({ path: `${path}/${id}/${result}`, headers, bytesMax: resultBytesMax })).text)
}

/** Jobs of one kind, and the clock of Salesforce. */
export type ListedJobs = { readonly jobs: readonly IngestJob[]; readonly aheadMs: number }

/** The jobs of a kind whose rows were uploaded, the newest first, and by how much the clock of Salesforce is ahead. */
export async function listJobs(client: PlatformClient, { object, operation }: JobKind): Promise<ListedJobs> {
  const jobs: IngestJob[] = []
  let aheadMs = 0
  let pages = 0
  const read = async (queryLocator: string | undefined) => {
    const { json, headers } = await client.askObject({ path, query: { jobType: 'V2Ingest', queryLocator } })
    const now = Date.parse(headers.get('date') ?? '')
    if (!Number.isNaN(now)) aheadMs = now - Date.now()
    return { items: listIn(json.records), next: locatorIn(json.nextRecordsUrl) }
  }
  for await (const { items } of pagesOf(read)) {
    for (const item of items) {
      if (!isObject(item) || item.object !== object || item.operation !== operation) continue
      const job = jobOf(item)
      if (job && job.state !== 'Open') jobs.push(job)
    }
    if (++pages === listPagesMax) break
  }
  return { jobs: jobs.sort((a, b) => b.created - a.created), aheadMs }
}

function locatorIn(url: unknown): string | undefined {
  if (url === undefined || url === null) return undefined
  const locator = /[?&]queryLocator=([\w-]{1,200})(?:&|$)/.exec(String(url))?.[1]
  if (locator === undefined) throw unusableNext('Salesforce', 'it has no locator')
  return locator
}

/** Throws the error with which the job as a whole failed. Does nothing if its rows can be sent again. */
export function assertUsable({ state, code }: IngestJob): void {
  if (state !== 'Failed' || code === undefined) return
  if (isSpent(code)) {
    const message = `Salesforce takes no more rows of this organization for now (${code}): a limit of 24 hours is used up.`
    throw new ConnectorError('rate_limited', message, { afterMs: 10 * 60_000 })
  }
  if (/^(InvalidBatch|ClientInputError)$/i.test(code)) {
    const message = `Salesforce cannot read the rows that were sent (${code}); check that the mapping names fields of the object.`
    throw new ConnectorError('columns_do_not_fit', message)
  }
}

function requireJob(json: JsonObject): IngestJob {
  const job = jobOf(json)
  if (job) return job
  throw new ConnectorError('malformed_response', 'Salesforce did not describe the job.')
}

function jobOf(json: JsonObject): IngestJob | undefined {
  const [id = '', state = ''] = [textIn(json.id), textIn(json.state)]
  const created = timeIn(json.createdDate)
  if (!/^[A-Za-z0-9]{15,18}$/.test(id) || !/^\w{1,40}$/.test(state) || created === undefined) return undefined
  const [processed, failed] = [numberIn(json.numberRecordsProcessed), numberIn(json.numberRecordsFailed)]
  const [, code] = /^\s*(\w{3,60})\s*:/.exec(textIn(json.errorMessage) ?? '') ?? []
  return { id, state, created, processed, failed, code }
}

/** A time of Salesforce, `2026-01-31T12:00:00.000+0000`, in milliseconds since 1970. */
export function timeIn(value: unknown): number | undefined {
  const ms = Date.parse((textIn(value) ?? '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return Number.isNaN(ms) ? undefined : ms
}
