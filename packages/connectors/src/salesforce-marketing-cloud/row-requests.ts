import { ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'

/** What Marketing Cloud says of a row. */
export type RowResult = 'taken' | 'locked' | { readonly reason: string }

/** What became of a request. */
export type RequestResult =
  /** A result for each row, in the order in which they were sent. */
  | { readonly rows: readonly RowResult[] }
  /** It does not say which rows these are. */
  | { readonly reasons: readonly string[] }
  /** It did not process the request. */
  | { readonly failed: true }

const pageSize = 2_500

/** Hands rows over, for Marketing Cloud to process later. Resolves with the identifier of the request. */
export async function submitRows(
  marketingCloud: PlatformClient,
  { key, upserts, rows }: { key: string; upserts: boolean; rows: readonly unknown[] },
): Promise<{ requestId: string; bytes: number }> {
  const { json, bytesSent } = await marketingCloud.askObject({
    method: upserts ? 'PUT' : 'POST',
    path: `/data/v1/async/dataextensions/key:${encodeURIComponent(key)}/rows`,
    body: { items: rows },
    // Each attempt is processed on its own; the engine shows the wait before the next one.
    repeatable: false,
  })
  const requestId = textIn(json.requestId)
  if (requestId !== undefined && /^[\w-]{1,64}$/.test(requestId)) return { requestId, bytes: bytesSent }
  throw new ConnectorError('malformed_response', 'Marketing Cloud did not return the ID of the request.')
}

/** What became of a request; `undefined` while that is not known. */
export async function resultOf(
  marketingCloud: PlatformClient,
  requestId: string,
  sent: number,
): Promise<RequestResult | undefined> {
  const path = `/data/v1/async/${requestId}`
  const { json } = await marketingCloud.askObject({ path: `${path}/status` })
  // Without a status it has not begun.
  const { requestStatus, resultStatus, hasErrors } = objectIn(json.status)
  if (requestStatus === 'Complete' && resultStatus === 'OK' && hasErrors !== true) {
    return { rows: Array.from({ length: sent }, () => 'taken' as const) }
  }
  if (requestStatus !== 'Complete' && requestStatus !== 'Error') return undefined
  const results = await readResults(marketingCloud, `${path}/results`, sent)
  if (results.length === sent) return { rows: results }
  if (requestStatus === 'Error') return { failed: true }
  const reasons = results.flatMap((result) =>
    result === 'taken' ? [] : [result === 'locked' ? lockedRow : result.reason],
  )
  if (results.length < sent && reasons.length > 0) return { reasons }
  throw new ConnectorError('malformed_response', 'Marketing Cloud does not report which rows it rejected.')
}

/** The results of the rows, page by page; no more than one beyond those that were sent. */
async function readResults(marketingCloud: PlatformClient, path: string, sent: number): Promise<RowResult[]> {
  const results: RowResult[] = []
  for (let page = 1; results.length < sent; page++) {
    const query = { page: String(page), pagesize: String(pageSize) }
    const { json } = await marketingCloud.askObject({ path, query })
    const items = listIn(json.items)
    if (items.length === 0 || (numberIn(json.page) ?? page) !== page) break
    for (const item of items.slice(0, sent + 1 - results.length)) results.push(readResult(item))
    if (results.length >= (numberIn(json.count) ?? 0)) break
  }
  return results
}

export const lockedRow =
  'Marketing Cloud could not save the row because other rows were saved at the same time; send it again.'

function readResult(item: unknown): RowResult {
  const { status, message, errorCode } = isObject(item) ? item : {}
  if (status === 'OK') return 'taken'
  const said = typeof message === 'string' ? message : ''
  if (/Rerun the transaction\.\s*$/.test(said)) return 'locked'
  const code = textIn(errorCode)
  const shown = code !== undefined && /^[A-Za-z]{1,40}$|^\d{1,8}$/.test(code) ? ` (${code})` : ''
  if (/duplicate key/i.test(said)) {
    return { reason: `A row with this key is already there${shown}; choose Upsert to overwrite such rows.` }
  }
  return {
    reason: `Marketing Cloud did not accept the row${shown}; check its keys, the columns that may not be empty, and the types and lengths of its values.`,
  }
}
