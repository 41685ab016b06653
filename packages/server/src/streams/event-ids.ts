import type { IncomingHttpHeaders } from 'node:http'
import { messageIdOf } from './tracking.ts'

/** Where the ID of an event is, so that a repeated event is found. */

/** Headers in which senders of webhooks repeat the ID of a delivery when they retry it. */
const idHeaders = [
  'webhook-id',
  'svix-id',
  'x-shopify-event-id',
  'x-github-delivery',
  'x-wc-webhook-delivery-id',
  'x-cio-delivery-id',
  'i-twilio-idempotency-token',
  'idempotency-key',
]

/** The ID of a request, from the headers of known senders. */
export function messageIdOfHeaders(headers: IncomingHttpHeaders): string | undefined {
  for (const name of idHeaders) {
    const id = messageIdOf(headers[name])
    if (id !== undefined) return `${name} ${id}`
  }
  return undefined
}

/** The ID of an event at a JSON pointer (RFC 6901). */
export function messageIdAt(event: unknown, pointer: string): string | undefined {
  let place: unknown = event
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined
    place = (place as Record<string, unknown>)[key]
  }
  // A number with more digits than a double is an object with its digits.
  return messageIdOf(typeof place === 'object' && place !== null ? JSON.stringify(place) : place)
}
