import type { IncomingHttpHeaders } from 'node:http'
import { presetOf } from '@penstock/connectors'
import { decompress, fieldsOf, parseBody, textOf, valuesOf } from './body.ts'
import { messageIdAt, messageIdOfHeaders } from './event-ids.ts'
import type { FoundStream } from './find-streams.ts'
import type { SignedIds } from './signing.ts'
import { messageIdOf, trackingEvents } from './tracking.ts'

/** Reads the events of requests, and their IDs. */

/** The events of a request: in a body, or in the query of an address. */
export type RequestContent = {
  /** Any JSON, or a call of the tracking API by the name in its path. */
  readonly call: string | undefined
  readonly method: string
  /** The full address, as the sender used it. */
  readonly url: string
  readonly content:
    | { readonly body: Buffer; readonly headers: IncomingHttpHeaders }
    | { readonly query: URLSearchParams; readonly data: string | undefined }
}

type ReadRequest = {
  readonly values: readonly unknown[]
  /** The write key that browsers send in the body. */
  readonly keyInBody: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** Reads the events of a request. */
export async function readRequest(
  { call, content }: RequestContent,
  { bytes, growBy, receivedMs }: { bytes: number; growBy: (more: number) => void; receivedMs: number },
): Promise<ReadRequest> {
  if ('query' in content) {
    const value = content.data === undefined ? fieldsOf(content.query, true) : parseBody(ofBase64(content.data))
    const keyInBody = keyIn(value)
    const values = call === undefined ? [value] : trackingEvents(call, value, receivedMs)
    return { values, keyInBody, headers: {} }
  }
  const { body, headers } = content
  const plain = await decompress(body, headers['content-encoding'])
  if (plain.length > bytes) growBy(plain.length - bytes)
  if (call === undefined) return { values: valuesOf(plain, headers['content-type']), keyInBody: undefined, headers }
  const value = parseBody(textOf(plain))
  return { values: trackingEvents(call, value, receivedMs), keyInBody: keyIn(value), headers }
}

const ofBase64 = (data: string): string => textOf(Buffer.from(data, 'base64'))

/** The key of a call, of its first event, or of both. */
function keyIn(value: unknown): string | undefined {
  const { writeKey, batch } = (value ?? {}) as { writeKey?: unknown; batch?: unknown }
  if (typeof writeKey === 'string') return writeKey
  const first = Array.isArray(batch) ? (batch[0] as { writeKey?: unknown } | null) : undefined
  return typeof first?.writeKey === 'string' ? first.writeKey : undefined
}

/** Finds the ID of each event of a request. */
export function idReader(
  { settings, connectorId }: Pick<FoundStream, 'settings' | 'connectorId'>,
  { headers, signedIds, count }: { headers: IncomingHttpHeaders; signedIds: SignedIds | undefined; count: number },
) {
  const pointer = String(settings.messageIdAt ?? '')
  const known = presetOf(connectorId)?.messageIdAt
  const ofRequest = messageIdOfHeaders(headers)
  return (event: unknown, index: number): string | undefined => {
    if (pointer !== '') return messageIdAt(event, pointer)
    const signed = (known && messageIdAt(event, known)) ?? signedIds?.(event, index, count)
    if (signed !== undefined) return signed
    const own = messageIdOf((event as { messageId?: unknown }).messageId)
    if (own !== undefined || ofRequest === undefined) return own
    return count === 1 ? ofRequest : `${ofRequest} ${index}`
  }
}
