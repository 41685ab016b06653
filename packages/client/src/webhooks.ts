import type { PenstockEvent } from '@penstock/wire'

/**
 * Receives events: verifies their sender (Standard Webhooks) and parses them. Runs in Node 20, and in every runtime with
 * WebCrypto.
 */

/** A request that is not from Penstock, was altered, or is too old. Answer it with 400 and do nothing else. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** The headers of a request, in the form of `fetch` or of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type WebhookOptions = {
  /** Maximum difference between the clocks of both sides, and maximum age of a request, in seconds; defaults to 300. */
  readonly toleranceSeconds?: number
  /** Returns the current time in milliseconds; for tests. */
  readonly now?: () => number
}

const prefix = 'whsec_'
const version = 'v1,'
const signaturesMax = 20

/**
 * Verifies a request and returns its event.
 * @param body the body exactly as it was received, byte for byte; do not parse and serialise it again
 * @param secrets the secret of the webhook, or several secrets, any of which may have signed the request
 * @returns the event. Its `id` equals the header `webhook-id`. The same event can be delivered more than once, so store the `id`
 * @throws WebhookError if the request cannot be trusted
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now }: WebhookOptions = {},
): Promise<PenstockEvent & { readonly id: string }> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  )
  if (!id || !timestamp || !signatures) throw new WebhookError('The request has no signature')
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('The time of the request is not valid')
  if (Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookError('The request is too old, or the clocks differ')
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const start = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(start.length + bytes.length)
  signed.set(start)
  signed.set(bytes, start.length)
  const given = signatures.split(' ').slice(0, signaturesMax)
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await keyOf(secret)
    for (const one of given) {
      const signature = one.startsWith(version) ? bytesOf(one.slice(version.length)) : undefined
      // Compares in constant time.
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return parse(bytes, id)
    }
  }
  throw new WebhookError('The signature does not match')
}

function parse(bytes: Uint8Array, id: string): PenstockEvent & { readonly id: string } {
  const event: unknown = JSON.parse(new TextDecoder().decode(bytes))
  if (typeof event !== 'object' || event === null || !('type' in event)) throw new WebhookError('This is not an event')
  return { ...(event as PenstockEvent), id }
}

function keyOf(secret: string) {
  const bytes = secret.startsWith(prefix) ? bytesOf(secret.slice(prefix.length)) : undefined
  if (!bytes || bytes.length === 0) throw new TypeError(`The secret of a webhook begins with ${prefix}`)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : value?.join(' ')
}
