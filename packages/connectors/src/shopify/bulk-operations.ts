import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import { accessDenied, codesOf } from './api.ts'
import type { Shopify } from './sign-in.ts'

/** An operation runs a query, or a mutation for each line of a file. */
export type BulkKind = 'query' | 'mutation'

/** An operation that runs at Shopify, or has ended. */
export type BulkOperation = {
  /** `gid://shopify/BulkOperation/1` */
  readonly id: string
  readonly status: string
  /** By the clock of Shopify, in milliseconds since 1970. */
  readonly created: number
  readonly errorCode: string | undefined
  /** Objects that were read, or lines that were processed. */
  readonly objects: number | undefined
  /** The address of the result, for 7 days. Absent if the result is empty. */
  readonly url: string | undefined
}

const fields = 'id status createdAt errorCode objectCount url'

export const documents = {
  query: `mutation ($query: String!) { bulkOperationRunQuery(query: $query, groupObjects: false) { bulkOperation { ${fields} } userErrors { code field } } }`,
  mutation: `mutation ($mutation: String!, $path: String!) { bulkOperationRunMutation(mutation: $mutation, stagedUploadPath: $path) { bulkOperation { ${fields} } userErrors { code field } } }`,
  look: `query ($id: ID!) { node(id: $id) { ... on BulkOperation { ${fields} } } }`,
  list: `query ($filter: String!) { bulkOperations(first: 50, query: $filter, sortKey: CREATED_AT, reverse: true) { nodes { ${fields} query } } }`,
  cancel: 'mutation ($id: ID!) { bulkOperationCancel(id: $id) { userErrors { field } } }',
  stage:
    'mutation ($input: [StagedUploadInput!]!) { stagedUploadsCreate(input: $input) { stagedTargets { url parameters { name value } } userErrors { field } } }',
} as const

/** Clocks of two machines that were compared are no further apart. */
const marginMs = 5_000
const busyMs = 60_000
const idForm = /^gid:\/\/shopify\/BulkOperation\/\d{1,20}$/

/** A query to run, or a mutation with its name and the path of its uploaded lines. */
export type BulkStart =
  | { readonly kind: 'query'; readonly text: string }
  | { readonly kind: 'mutation'; readonly text: string; readonly name: string; readonly path: string }

/**
 * Starts an operation. If the answer is lost, the operation is looked for, so that it is not run again. Throws `rate_limited`
 * while the app runs as many operations as Shopify allows, which is five of each kind in a shop.
 */
export async function startOperation(shopify: Shopify, start: BulkStart): Promise<BulkOperation> {
  const startedMs = Date.now()
  const { kind, text } = start
  const variables: JsonObject = kind === 'query' ? { query: text } : { mutation: text, path: start.path }
  try {
    const { data } = await shopify.ask(documents[kind], variables, { repeatable: false })
    const payload = objectIn(data[kind === 'query' ? 'bulkOperationRunQuery' : 'bulkOperationRunMutation'])
    assertStarted(listIn(payload.userErrors).map(objectIn), kind)
    return requireOperation(payload.bulkOperation)
  } catch (error) {
    const code = asConnectorError(error)?.code
    if (
      code !== 'connection_lost' &&
      code !== 'timeout' &&
      code !== 'platform_error' &&
      code !== 'malformed_response'
    ) {
      throw error
    }
    const found = await findOperation(shopify, kind, kind === 'query' ? text : start.name, startedMs)
    if (found) return found
    throw error
  }
}

function assertStarted(errors: readonly JsonObject[], kind: BulkKind): void {
  if (errors.length === 0) return
  const [code = 'no code'] = codesOf(errors)
  if (code === 'OPERATION_IN_PROGRESS' || code === 'LIMIT_REACHED') {
    const message = `Shopify already runs as many bulk operations of this app in the shop as it allows (${code}). The transfer waits until one has ended.`
    throw new ConnectorError('rate_limited', message, { afterMs: busyMs })
  }
  if (code === 'INTERNAL_FILE_SERVER_ERROR' || code === 'NO_SUCH_FILE') {
    throw new ConnectorError('platform_error', `Shopify cannot read the file that was uploaded (${code}).`)
  }
  throw new ConnectorError('request_refused', `Shopify does not accept the bulk ${kind} (${code}).`)
}

/**
 * The newest operation of this kind with exactly this query, or with a mutation of this name.
 * @param sinceMs leaves older ones out, by our clock in milliseconds since 1970
 */
export async function findOperation(
  shopify: Shopify,
  kind: BulkKind,
  wanted: string,
  sinceMs: number,
): Promise<BulkOperation | undefined> {
  const { data, aheadMs } = await shopify.ask(documents.list, { filter: `operation_type:${kind}` })
  for (const node of listIn(objectIn(data.bulkOperations).nodes).map(objectIn)) {
    const text = textIn(node.query) ?? ''
    const isWanted = kind === 'query' ? squeezed(text) === squeezed(wanted) : text.includes(wanted)
    const operation = isWanted ? operationIn(node) : undefined
    if (operation && operation.created >= sinceMs + aheadMs - marginMs) return operation
  }
  return undefined
}

const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The end of an operation. `gone`: Shopify does not know it, or its result, any more. */
export type BulkEnd =
  | { readonly state: 'done'; readonly operation: BulkOperation }
  | { readonly state: 'failed'; readonly error: ConnectorError }
  | { readonly state: 'gone' }

/** Waits for an operation. Throws `timeout`, after which the transfer finds it again by its ID. */
export async function awaitOperation(
  shopify: Shopify,
  id: string,
  { totalMs, scopes }: { readonly totalMs: number; readonly scopes: string },
): Promise<BulkEnd> {
  const look = async (): Promise<BulkEnd | undefined> => {
    const { data } = await shopify.ask(documents.look, { id })
    if (data.node === null) return { state: 'gone' }
    return endOf(requireOperation(data.node), scopes)
  }
  const end = await poll(look, { firstMs: 250, mostMs: 10_000, totalMs, signal: shopify.signal })
  if (end) return end
  const message = `Shopify did not finish the bulk operation within ${Math.round(totalMs / 1000)} seconds. The transfer finds it again.`
  throw new ConnectorError('timeout', message)
}

function endOf(operation: BulkOperation, scopes: string): BulkEnd | undefined {
  const { status, errorCode, objects, url } = operation
  if (status === 'COMPLETED') {
    if (url !== undefined || objects === 0) return { state: 'done', operation }
    return { state: 'gone' }
  }
  if (status === 'EXPIRED') return { state: 'gone' }
  if (status === 'CANCELED') {
    const message = 'The bulk operation was cancelled in Shopify. It is started again.'
    return { state: 'failed', error: new ConnectorError('platform_error', message) }
  }
  if (status !== 'FAILED') return undefined
  if (errorCode === 'ACCESS_DENIED') return { state: 'failed', error: accessDenied(scopes) }
  const advice = errorCode === 'TIMEOUT' ? ' If this persists, read changed records only.' : ''
  const shown = errorCode === undefined ? '' : ` (${errorCode})`
  const message = `Shopify did not finish the bulk operation${shown}.${advice}`
  return { state: 'failed', error: new ConnectorError('platform_error', message) }
}

/** Stops an operation whose result is not wanted any more. Never throws. */
export const cancelOperation = (shopify: Shopify, id: string): Promise<void> => shopify.undo(documents.cancel, { id })

function requireOperation(value: unknown): BulkOperation {
  const operation = operationIn(value)
  if (operation) return operation
  throw new ConnectorError('malformed_response', 'Shopify did not describe the bulk operation.')
}

function operationIn(value: unknown): BulkOperation | undefined {
  if (!isObject(value)) return undefined
  const [id = '', status = ''] = [textIn(value.id), textIn(value.status)]
  const created = Date.parse(textIn(value.createdAt) ?? '')
  if (!idForm.test(id) || !/^[A-Z_]{3,40}$/.test(status) || Number.isNaN(created)) return undefined
  const code = textIn(value.errorCode)
  const count = textIn(value.objectCount) ?? ''
  return {
    id,
    status,
    created,
    errorCode: code !== undefined && /^[A-Z_]{3,60}$/.test(code) ? code : undefined,
    objects: /^\d{1,15}$/.test(count) ? Number(count) : undefined,
    url: textIn(value.url),
  }
}

/** Opens the file of a result, from a byte on. It is not signed in. Throws `result_expired` if it is not there any more. */
export async function openResult(
  { egress, signal }: Pick<ConnectorContext, 'egress' | 'signal'>,
  url: string,
  from = 0,
): Promise<{ readonly bytes: AsyncIterable<Uint8Array>; readonly at: number }> {
  const address = httpsAddress(url)
  // One byte more, since no part of a file begins behind its end.
  const begin = Math.max(0, from - 1)
  const range: Record<string, string> = begin > 0 ? { range: `bytes=${begin}-` } : {}
  const response = await egress.request(address, {
    headers: { 'accept-encoding': 'identity', ...range },
    signal,
    streams: true,
    redirectsMax: 3,
  })
  const { status, body, headers } = response
  if (body && status === 200) return { bytes: body, at: 0 }
  if (body && status === 206 && headers.get('content-range')?.startsWith(`bytes ${begin}-`))
    return { bytes: body, at: begin }
  await body?.cancel()
  if (status === 429 || status >= 500) {
    const code = status === 429 ? 'rate_limited' : 'platform_error'
    const message = `Shopify did not hand out the result of the bulk operation (status ${status}).`
    throw new ConnectorError(code, message, { afterMs: waitMsOf(response) })
  }
  throw new ConnectorError('result_expired', `Shopify did not hand out the result (status ${status}).`)
}

/** The address of a file, as Shopify returned it. Throws `malformed_response` unless it is one of HTTPS. */
export function httpsAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address?.protocol === 'https:' && address.username === '' && address.password === '') return address
  throw new ConnectorError('malformed_response', 'Shopify did not return an address of a file.')
}

/** No line of a result has more bytes. */
const lineBytesMax = 16 << 20

/** A line of a result, and the byte behind it. */
export type ResultLine = { readonly item: JsonObject; readonly end: number }

/**
 * The lines of a result behind a byte, in groups as they arrive. Throws `malformed_response` if one is no object of JSON.
 * @param at the byte that `bytes` begin with
 * @param from the byte behind the last line that was read
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  at: number,
  from: number,
  parse: (text: string) => unknown,
): AsyncGenerator<readonly ResultLine[]> {
  let place = at
  let rest: Uint8Array = new Uint8Array()
  for await (const piece of bytes) {
    const skipped = Math.max(0, Math.min(piece.length, from - place))
    place += skipped
    if (skipped === piece.length) continue
    rest = rest.length === 0 ? piece.subarray(skipped) : Buffer.concat([rest, piece.subarray(skipped)])
    const lines: ResultLine[] = []
    for (;;) {
      const newline = rest.indexOf(0x0a)
      if (newline < 0) break
      const line = rest.subarray(0, newline)
      place += newline + 1
      rest = rest.subarray(newline + 1)
      if (line.length > 0) lines.push({ item: objectOf(line, parse), end: place })
    }
    if (rest.length > lineBytesMax) throw broken()
    if (lines.length > 0) yield lines
  }
  if (rest.length > 0) yield [{ item: objectOf(rest, parse), end: place + rest.length }]
}

function objectOf(line: Uint8Array, parse: (text: string) => unknown): JsonObject {
  try {
    const value = parse(new TextDecoder('utf-8', { fatal: true }).decode(line))
    if (isObject(value)) return value
  } catch {}
  throw broken()
}

const broken = (): ConnectorError =>
  new ConnectorError('malformed_response', 'The result of Shopify has a line that breaks off or is no JSON.')
