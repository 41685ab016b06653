import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { numberIn, textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import { type TextTable, tableOf } from './csv.ts'
import { timeIn } from './ingest-jobs.ts'
import { isSpent, type Salesforce } from './salesforce-api.ts'

/** A query that Salesforce runs, and when it was begun by the clock of Salesforce. */
export type SoqlJob = { readonly id: string; readonly created: number }

/** The end of a query. `gone`: Salesforce does not know it any more. */
export type QueryEnd =
  | { readonly state: 'done'; readonly rows: number | undefined }
  | { readonly state: 'failed'; readonly code: string | undefined }
  | { readonly state: 'gone' }

const path = '/jobs/query'
const idPattern = /^[A-Za-z0-9]{15,18}$/
/** If a page is larger, it is requested with fewer rows. */
const pageBytesMax = 32 << 20
const pageRowsMin = 100
const waitMs = 10 * 60_000

/** Begins a query. If the answer is lost, it is begun again, and Salesforce drops the other result after 7 days. */
export async function startQuery(client: PlatformClient, query: string, deleted: boolean): Promise<SoqlJob> {
  const body = { operation: deleted ? 'queryAll' : 'query', query }
  const { json } = await client.askObject({ method: 'POST', path, body, repeatable: true })
  const [id = '', created] = [textIn(json.id), timeIn(json.createdDate)]
  if (idPattern.test(id) && created !== undefined) return { id, created }
  throw new ConnectorError('malformed_response', 'Salesforce did not return the ID of the query job.')
}

/** Waits for a query. Throws `timeout`, after which the transfer finds it again by its ID. */
export async function awaitQuery(client: PlatformClient, { id }: SoqlJob, signal: AbortSignal): Promise<QueryEnd> {
  const look = async (): Promise<QueryEnd | undefined> => {
    try {
      const { json } = await client.askObject({ path: `${path}/${id}` })
      if (json.state === 'JobComplete') return { state: 'done', rows: numberIn(json.numberRecordsProcessed) }
      if (json.state !== 'Failed' && json.state !== 'Aborted') return undefined
      return { state: 'failed', code: /^\s*([A-Z_]{3,60})\b/.exec(textIn(json.errorMessage) ?? '')?.[1] }
    } catch (error) {
      if (asConnectorError(error)?.code === 'object_not_found') return { state: 'gone' }
      throw error
    }
  }
  const end = await poll(look, { firstMs: 500, mostMs: 10_000, totalMs: waitMs, signal })
  if (end) return end
  const message = `Salesforce did not finish the query job ${id} within ${waitMs / 60_000} minutes. The transfer waits for it again.`
  throw new ConnectorError('timeout', message)
}

/** The error of a query that failed: one of the query, or one after which it can be run again. */
export function queryError(code: string | undefined): ConnectorError {
  const shown = code === undefined ? '' : ` (${code})`
  if (code !== undefined && isSpent(code)) {
    const message = `Salesforce runs no more query jobs of this organization for now${shown}: a limit of 24 hours is used up.`
    return new ConnectorError('rate_limited', message, { afterMs: waitMs })
  }
  if (code !== undefined && /^(?:INVALID|MALFORMED|API_ERROR|INSUFFICIENT|UNSUPPORTED)/.test(code)) {
    const message = `Salesforce cannot run the query${shown}; check the object, its fields, and that Bulk API 2.0 supports them.`
    return new ConnectorError('invalid_query', message)
  }
  const message = `Salesforce did not finish the query${shown}. If this persists, read fewer fields, or changed records only.`
  return new ConnectorError('platform_error', message)
}

/** Stops a query whose result is not wanted any more. Never throws. */
export const abortQuery = ({ undo }: Salesforce, { id }: SoqlJob): Promise<void> =>
  undo({ method: 'PATCH', path: `${path}/${id}`, body: { state: 'Aborted' }, repeatable: false })

/** Rows of a result, and the locator of the next ones, which is `undefined` at the end. */
export type SoqlPage = { readonly table: TextTable; readonly bytes: number; readonly next: string | undefined }

/**
 * Reads a page of a result, with fewer rows if the page is too large. Throws `object_not_found` if Salesforce no longer keeps
 * it, and `malformed_response` if the page breaks off.
 */
export async function readPage(
  client: PlatformClient,
  { id }: SoqlJob,
  locator: string | undefined,
  rows: number,
): Promise<SoqlPage> {
  try {
    const query = { maxRecords: String(rows), locator }
    const asked = { path: `${path}/${id}/results`, query, headers: { accept: 'text/csv' }, bytesMax: pageBytesMax }
    const { text, headers } = await client.ask(asked)
    const table = tableOf(text)
    const count = numberIn(headers.get('sforce-numberofrecords') ?? undefined)
    if (count !== undefined && count !== table.rows.length) throw broken()
    const next = headers.get('sforce-locator')?.trim() || 'null'
    if (!/^[\w.=+/-]{1,500}$/.test(next) || next === locator) throw broken()
    return { table, bytes: Buffer.byteLength(text), next: next === 'null' ? undefined : next }
  } catch (error) {
    if (asConnectorError(error)?.code !== 'response_too_large' || rows <= pageRowsMin) throw error
    return await readPage(client, { id, created: 0 }, locator, Math.max(pageRowsMin, rows >> 2))
  }
}

const broken = (): ConnectorError =>
  new ConnectorError(
    'malformed_response',
    'Salesforce sent a page of the result that breaks off or leads back to itself.',
  )
