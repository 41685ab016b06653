import { createHash, timingSafeEqual } from 'node:crypto'
import type { SchemeFacts } from '@penstock/connectors'
import { formOf, headerOf, type SignedRequest } from './signed-request.ts'

/** Parts that are signed one after another. */
export type SignedText = readonly (string | Buffer)[]

/** Signatures, and the texts of which one must be signed. */
export type SignatureClaim = { readonly texts: readonly SignedText[]; readonly signatures: readonly Buffer[] }

/** The bytes of a signature, or `undefined` if it is not written in this encoding. */
export function decodedSignature(text: string, encoding: SchemeFacts['encoding']): Buffer | undefined {
  if (encoding === 'text') return Buffer.from(text)
  const form = encoding === 'hex' ? /^(?:[0-9a-f]{2})+$/i : /^[A-Za-z0-9+/_-]+={0,2}$/
  return form.test(text) ? Buffer.from(text, encoding) : undefined
}

/**
 * The texts that the sender may have signed, for the variables of `signed`. A request is valid if the signature is of any
 * of them. There are none if the request lacks a part of the text.
 *
 * | Variable | Value |
 * |---|---|
 * | `{body}`, `{method}`, `{url}` | the request |
 * | `{timestamp}`, `{id}` | as the sender wrote them |
 * | `{hubspot-url}` | the address with the characters decoded that HubSpot decodes |
 * | `{twilio-url}` | the address with and without a port, because Twilio signs either |
 * | `{form}` | names and values of the form, sorted by name |
 * | `{escaped-body}` | the body as it is, and with characters outside ASCII as `\uXXXX`: a sender may escape them after it signs |
 * | `{first-event}` | the first element of the JSON list in the body, otherwise the body |
 */
export function signedTexts(facts: SchemeFacts, request: SignedRequest, timestamp: string | undefined): SignedText[] {
  const parts = (facts.signed ?? '{body}').split(/(?=\{)|(?<=\})/)
  return parts.reduce<SignedText[]>(
    (texts, part) =>
      valuesOf(part, facts, request, timestamp).flatMap((value) => texts.map((text) => [...text, value])),
    [[]],
  )
}

/** The candidates for a part of the text. */
function valuesOf(
  part: string,
  { id }: SchemeFacts,
  request: SignedRequest,
  timestamp: string | undefined,
): (string | Buffer)[] {
  const present = (value: string | Buffer | undefined) => (value === undefined ? [] : [value])
  switch (part) {
    case '{body}':
      return [request.body]
    case '{escaped-body}':
      return [request.body, request.body.toString().replace(/[^\0-\x7f]/g, escaped)]
    case '{timestamp}':
      return present(timestamp)
    case '{id}':
      return present(id && 'header' in id ? headerOf(request, id.header) : undefined)
    case '{method}':
      return [request.method.toUpperCase()]
    case '{url}':
      return [request.url]
    case '{hubspot-url}':
      return [hubspotUrl(request.url)]
    case '{twilio-url}':
      return twilioUrls(request.url)
    case '{form}':
      return present(sortedForm(request))
    case '{first-event}':
      return present(firstEvent(request.body))
    default:
      return [part]
  }
}

/** A character, by its unit of UTF-16, as JSON escapes it. */
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** HubSpot decodes only these characters before it signs an address. */
const hubspotUrl = (url: string) => url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, decodeURIComponent)

function twilioUrls(url: string): string[] {
  const [, start = '', host = '', port, rest = ''] =
    /^(https?:\/\/)([^/?#:]*|\[[^\]/]*\])(:\d+)?([/?#].*)?$/i.exec(url) ?? []
  if (start === '') return [url]
  const usual = start.toLowerCase() === 'https://' ? ':443' : ':80'
  return [start + host + rest, start + host + (port ?? usual) + rest]
}

/**
 * Names and values of the form, without separators. A JSON body has no form: Twilio adds its digest to the address as
 * `bodySHA256`. Returns `undefined` if the body has another digest, or too many fields.
 */
function sortedForm(request: SignedRequest): string | undefined {
  const { url, body } = request
  const digest = /[?&]bodySHA256=([0-9a-f]{64})(?:[&#]|$)/i.exec(url)?.[1]
  if (digest !== undefined) {
    const actual = createHash('sha256').update(body).digest()
    return timingSafeEqual(actual, Buffer.from(digest, 'hex')) ? '' : undefined
  }
  const values = new Map<string, Set<string>>()
  const fields = formOf(request)
  for (const [name, value] of fields ?? []) values.set(name, (values.get(name) ?? new Set()).add(value))
  const sorted = [...values.keys()].sort()
  const valuesOfName = (name: string) => [...(values.get(name) ?? [])].sort()
  return fields && sorted.flatMap((name) => valuesOfName(name).map((value) => name + value)).join('')
}

/** Segment signs the first event of a batch, as its own serializer writes it. */
function firstEvent(body: Buffer): string | Buffer | undefined {
  if (!isList(body)) return body
  try {
    const events: unknown = JSON.parse(body.toString())
    return Array.isArray(events) ? JSON.stringify(events[0]) : undefined
  } catch {
    return undefined
  }
}

/** Whether the body can only be a JSON list. */
export const isList = (body: Buffer): boolean => /^\s*\[/.test(body.subarray(0, 100).toString('latin1'))
