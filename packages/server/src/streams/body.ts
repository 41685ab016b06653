import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import { countKeys, parseExactJson } from '@penstock/connector/exact-json'
import { refuse } from '../refusal.ts'
import { eventBounds } from './bounds.ts'

/** Reads the bodies of requests with events. Every refusal is of the client: a body never leads to an error of the service. */

const utf8 = new TextDecoder('utf-8', { fatal: true })
const decompressors: Readonly<
  Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
}

/**
 * Decompresses a body. Refuses with `unsupported_media_type` for another encoding than gzip and deflate, with
 * `payload_too_large` above the bound, and with `invalid_request` if it is damaged.
 */
export async function decompress(bytes: Buffer, encoding: string | undefined): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return bytes
  const run = decompressors[name]
  if (!run) {
    return refuse('unsupported_media_type', [
      { field: 'header.content-encoding', message: 'must be gzip or deflate, or omitted' },
    ])
  }
  try {
    return await run(bytes, { maxOutputLength: eventBounds.body })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      refuse('payload_too_large', [
        { field: 'body', message: `has more than ${eventBounds.body} bytes once it is decompressed` },
      ])
    }
    return refuse('invalid_request', [{ field: 'body', message: `cannot be decompressed with ${name}` }])
  }
}

const refuseBody = (message: string): never => refuse('invalid_request', [{ field: 'body', message }])

/** The text of a body. Refuses bytes that are not UTF-8. */
export function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return refuseBody('is not UTF-8')
  }
}

/** Reads JSON without losing digits. Refuses with `invalid_request`. */
export function parseBody(text: string): unknown {
  if (text.trim() === '') return refuseBody('is empty: send an event as JSON')
  try {
    return parseExactJson(text)
  } catch {
    return refuseBody('is not valid JSON')
  }
}

const formType = 'application/x-www-form-urlencoded'
const linesTypes = ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/json-lines']
/** Types of bodies that browsers and programs send with JSON in them. */
const jsonTypes = ['', 'text/plain', 'application/octet-stream']

/**
 * The values of a body by its content type: an object or a list of JSON, lines of JSON, or a form, whose fields become texts.
 * Refuses with `unsupported_media_type` for other types.
 */
export function valuesOf(bytes: Buffer, contentType: string | undefined): readonly unknown[] {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === formType) return [fieldsOf(new URLSearchParams(textOf(bytes)))]
  if (linesTypes.includes(type)) return linesOf(textOf(bytes))
  if (!jsonTypes.includes(type) && !/^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(type)) {
    refuse('unsupported_media_type', [
      { field: 'header.content-type', message: 'must be application/json, application/x-ndjson, a form or text/plain' },
    ])
  }
  const value = parseBody(textOf(bytes))
  return Array.isArray(value) ? value : [value]
}

function linesOf(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > eventBounds.events) return refuseBody(tooMany)
  if (lines.length === 0) return refuseBody('is empty: send an event as JSON')
  return lines.map((line, index) => {
    try {
      return parseExactJson(line)
    } catch {
      return refuseBody(`line ${index + 1} is not valid JSON`)
    }
  })
}

export const tooMany = `has more than ${eventBounds.events} events: send them in several requests`

/** Fields of a form or of a query as an object of texts; a repeated field is a list. Names with dots are nested if asked for. */
export function fieldsOf(fields: URLSearchParams, nested = false): Record<string, unknown> {
  const object: Record<string, unknown> = Object.create(null)
  let count = 0
  for (const [name, value] of fields) {
    if (++count > eventBounds.keys) refuseBody(`has more than ${eventBounds.keys} fields`)
    const path = nested ? name.split('.').slice(0, eventBounds.levels - 1) : [name]
    let place = object
    for (const key of path.slice(0, -1)) {
      const inside = place[key]
      const isObject = typeof inside === 'object' && inside !== null && !Array.isArray(inside)
      if (!isObject) place[key] = Object.create(null)
      place = place[key] as Record<string, unknown>
    }
    const key = path.at(-1) ?? name
    const earlier = place[key]
    place[key] = earlier === undefined ? value : [earlier, value].flat()
  }
  return object
}

/** Why a value cannot be an event. Undefined if it can. */
export function errorOfEvent(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is not a JSON object'
  const keys = countKeys(value, eventBounds.levels)
  if (keys === -1) return `is nested deeper than ${eventBounds.levels} levels`
  return keys > eventBounds.keys ? `has ${keys} keys, more than ${eventBounds.keys}` : undefined
}
