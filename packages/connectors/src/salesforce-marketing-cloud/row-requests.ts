import { asConnectorError, ConnectorError, type Values } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { countsOf, type RowBlame } from '../platform-api/rows/row-results.ts'
import { requireDataExtension } from './data-extensions.ts'

/** A row that was not taken. `again`: because others were saved at the same time. Of those without a place, only the number is known. */
export type NotTaken = RowBlame & { readonly again?: boolean }

export type RowRequest = { readonly requestId: string; readonly bytes: number }

const pageSize = 2_500

/** Hands rows over, for Marketing Cloud to process later. Throws `object_not_found` if there is no data extension with the key. */
export async function submitRows(
  client: PlatformClient,
  { apiType }: Values,
  key: string,
  items: readonly unknown[],
): Promise<RowRequest> {
  try {
    const { json, bytesSent: bytes } = await client.askObject({
      method: apiType === 'Insert' ? 'POST' : 'PUT',
      path: `/data/v1/async/dataextensions/key:${encodeURIComponent(key)}/rows`,
      body: { items },
      // Each attempt is processed separately. The engine shows the wait before the next one.
      repeatable: false,
    })
    const requestId = textIn(json.requestId)
    if (requestId !== undefined && /^[\w-]{1,64}$/.test(requestId)) return { requestId, bytes }
  } catch (error) {
    // Whether it is the rows, or that there is no such data extension, the answer does not say.
    if (asConnectorError(error)?.code === 'invalid_batch') await requireDataExtension(client, key)
    throw error
  }
  throw new ConnectorError('malformed_response', 'Marketing Cloud did not return the ID of the request.')
}

/** The rows that a request did not accept, or `failed` if it was not processed. `undefined` while this is unknown. */
export async function resultOf(
  client: PlatformClient,
  requestId: string,
  sent: number,
): Promise<readonly NotTaken[] | 'failed' | undefined> {
  const path = `/data/v1/async/${requestId}`
  const { json } = await client.askObject({ path: `${path}/status` })
  // Without a status it has not begun.
  const { requestStatus, resultStatus, hasErrors } = objectIn(json.status)
  if (requestStatus === 'Complete' && resultStatus === 'OK' && hasErrors !== true) return []
  if (requestStatus !== 'Complete' && requestStatus !== 'Error') return undefined
  const results = await readResults(client, `${path}/results`, sent)
  const notTaken = results.flatMap((result, at) =>
    objectIn(result).status === 'OK' ? [] : [{ at, ...whyNot(result) }],
  )
  if (results.length === sent) return notTaken
  if (requestStatus === 'Error') return 'failed'
  if (results.length < sent && notTaken.length > 0) return countsOf(notTaken.map(({ reason }) => reason))
  throw new ConnectorError('malformed_response', 'Marketing Cloud does not report which rows it rejected.')
}

/** The results of the rows, read page by page, in the order in which they were sent. There is at most one more than rows were sent. */
async function readResults(client: PlatformClient, path: string, sent: number): Promise<unknown[]> {
  const results: unknown[] = []
  for (let page = 1; results.length < sent; page++) {
    const { json } = await client.askObject({ path, query: { page: String(page), pagesize: String(pageSize) } })
    const items = listIn(json.items)
    if (items.length === 0 || (numberIn(json.page) ?? page) !== page) break
    results.push(...items.slice(0, sent + 1 - results.length))
    if (results.length >= (numberIn(json.count) ?? 0)) break
  }
  return results
}

function whyNot(result: unknown): { reason: string; again?: boolean } {
  const { message, errorCode } = objectIn(result)
  const said = typeof message === 'string' ? message : ''
  if (/Rerun the transaction\.\s*$/.test(said)) {
    const reason =
      'Marketing Cloud could not save the row because other rows were saved at the same time; send it again.'
    return { reason, again: true }
  }
  const code = textIn(errorCode)
  const shown = code !== undefined && /^[A-Za-z]{1,40}$|^\d{1,8}$/.test(code) ? ` (${code})` : ''
  const reason = /duplicate key/i.test(said)
    ? `A row with this key is already there${shown}; choose Upsert to overwrite such rows.`
    : `Marketing Cloud did not accept the row${shown}; check its keys, the columns that may not be empty, and the types and lengths of its values.`
  return { reason }
}
