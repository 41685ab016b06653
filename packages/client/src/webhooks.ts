import type { PenstockEvent } from '@penstock/wire'

/** Receives events: verifies who sent them (Standard Webhooks) and parses them. Runs in Node 20, and wherever WebCrypto is. */

/** A request that is not from Penstock, was altered, or is too old. Answer it with 400 and do nothing else. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** The headers of a request: those of `fetch`, or those of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type WebhookOptions = {
  /** How far the clocks of both sides may be apart, and how old a request may be, in seconds; 300 unless given. */
  readonly toleranceSeconds?: number
  /** The time, in milliseconds; for tests. */
  readonly now?: () => number
}

const prefix = 'whsec_'
const version = 'v1,'
const signaturesMax = 20

/**
 * Verifies a request and returns its event.
 * @param body the body as it came, byte for byte: not parsed and written again
 * @param secrets the secret of the webhook, or several, any of which may have signed it
 * @returns the event; the header `webhook-id` is its `id`: the same event can come more than once, so store it
 * @throws WebhookError where the request is not to be trusted
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
