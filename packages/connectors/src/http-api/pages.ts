import { createHash } from 'node:crypto'
import { ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { type JsonObject, textIn } from '../platform-api/json.ts'
import type { Page } from '../platform-api/polling.ts'
import type { Api } from './api.ts'
import type { ApiStream } from './definition.ts'
import { recordsIn, valueIn } from './records.ts'
import type { TemplateValues } from './template.ts'

/** One page of a stream. */
export type ApiPage = Page<JsonObject> & { readonly bytes: number; readonly text: string }

/** The longest cursor or address of a next page. */
const tokenLengthMax = 4_000

/**
 * Makes the reading of the pages of a stream, for `pagesOf`. A cursor is what leads to a page: its number, the records before it, what the API
 * gave, or its address.
 * Throws connector errors: `malformed_response` if numbered pages repeat, or if what leads to the next page cannot be used.
 */
export function pageReader(
  api: Api,
  stream: ApiStream,
  values: TemplateValues,
): (cursor: string | undefined) => Promise<ApiPage> {
  const { pages } = stream
  let last: string | undefined
  return async (cursor) => {
    const answer = await api.ask(stream, { values, ...requestOf(stream, cursor) })
    if (!answer) return { items: [], next: undefined, bytes: 0, text: '' }
    const items = recordsIn(answer.text, stream)
    const next = pages && nextOf(api, pages, answer, items.length, cursor)
    if (pages?.by === 'page' || pages?.by === 'offset') {
      const digest = items.length > 0 ? createHash('sha256').update(answer.text).digest('base64') : undefined
      if (digest !== undefined && digest === last) {
        const message = `Two pages are the same; the API does not seem to know the parameter ${pages.parameter}.`
        throw new ConnectorError('unexpected_response', message)
      }
      last = digest
    }
    return { items, next, bytes: Buffer.byteLength(answer.text), text: answer.text }
  }
}

function requestOf({ pages }: ApiStream, cursor: string | undefined) {
  if (!pages) return { parameters: {} }
  const size = pages.sizeParameter === undefined ? {} : { [pages.sizeParameter]: pages.size ?? 0 }
  switch (pages.by) {
    case 'page':
      return { parameters: { ...size, [pages.parameter]: Number(cursor ?? pages.first) } }
    case 'offset':
      return { parameters: { ...size, [pages.parameter]: Number(cursor ?? 0) } }
    case 'cursor':
      return { parameters: cursor === undefined ? size : { ...size, [pages.parameter]: cursor } }
    default:
      return { parameters: size, ...(cursor === undefined ? {} : { address: cursor }) }
  }
}

function nextOf(
  api: Api,
  pages: NonNullable<ApiStream['pages']>,
  answer: Answer,
  count: number,
  cursor: string | undefined,
): string | undefined {
  const { by, size, at, header } = pages
  if (by === 'page' || by === 'offset') {
    if (count === 0 || (size !== undefined && count < size)) return undefined
    return String(by === 'page' ? Number(cursor ?? pages.first) + 1 : Number(cursor ?? 0) + count)
  }
  const given = header === undefined ? valueIn(answer.json, at) : answer.headers.get(header)
  const token = by === 'link' ? linkIn(answer.headers.get('link') ?? '') : textIn(given)
  if (token === undefined) return undefined
  if (token.length > tokenLengthMax) {
    throw new ConnectorError(
      'malformed_response',
      `An answer leads to the next page with more than ${tokenLengthMax} characters.`,
    )
  }
  return by === 'cursor' ? token : api.nextAddress(token)
}

/** The address with the relation `next` in a `Link` header (RFC 8288). */
function linkIn(header: string): string | undefined {
  for (const [, address, parameters = ''] of header.slice(0, 16_384).matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(parameters)) return address
  }
  return undefined
}
