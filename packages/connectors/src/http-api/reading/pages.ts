import { createHash } from 'node:crypto'
import { ConnectorError } from '@penstock/connector'
import { evaluate, isEmpty, isTrue, textOfJson } from '@penstock/expressions/json'
import type { JsonObject } from '../../platform-api/json.ts'
import type { Page } from '../../platform-api/polling.ts'
import { type ApiAnswer, linksIn, scopeOfAnswer } from '../api/answers.ts'
import { type Api, explained, type PageRequest } from '../api/api.ts'
import { recordsIn, valueIn } from '../api/records.ts'
import type { ApiStream } from '../definition/definition.ts'
import type { TemplateValues } from '../definition/template.ts'
import { changeRecords } from './changes.ts'

/** One page of a stream. */
export type ApiPage = Page<JsonObject> & { readonly bytes: number; readonly text: string }

/** The longest cursor or address of a next page. */
const tokenLengthMax = 4_000

/**
 * Makes the reading of the pages of a stream, for `pagesOf`. A cursor is what leads to a page: its number, the records before it, what the API
 * gave, or its address. Records are changed as the stream says.
 * Throws connector errors: `malformed_response` if numbered pages repeat, or if what leads to the next page cannot be used.
 */
export function pageReader(
  api: Api,
  stream: ApiStream,
  values: TemplateValues,
): (cursor: string | undefined) => Promise<ApiPage> {
  const { pages } = stream
  let last: string | undefined
  return (cursor) =>
    explained(async () => {
      const answer = await api.ask(stream, requestOf(stream, cursor, values))
      if (!answer) return { items: [], next: undefined, bytes: 0, text: '' }
      const { items, next } = await pageOf(api, stream, answer, { cursor, values })
      if (pages?.by === 'page' || pages?.by === 'offset') {
        const digest = items.length > 0 ? createHash('sha256').update(answer.text).digest('base64') : undefined
        if (digest !== undefined && digest === last) {
          const message = `Two pages are the same; the API does not seem to know the parameter ${pages.parameter}.`
          throw new ConnectorError('unexpected_response', message)
        }
        last = digest
      }
      return { items, next, bytes: Buffer.byteLength(answer.text), text: answer.text }
    })
}

/** How a page was asked for: the cursor that led to it, `undefined` for the first one, and the values of templates. */
type Asked = { readonly cursor: string | undefined; readonly values: TemplateValues }

/** The records of an answer, changed as the stream says, and the cursor that leads to the next page. Throws connector errors, and `ExpressionError`. */
export async function pageOf(
  api: Api,
  stream: ApiStream,
  answer: ApiAnswer,
  { cursor, values }: Asked,
): Promise<Page<JsonObject>> {
  const { pages } = stream
  const scope = scopeOf(stream, cursor, values)
  const records = recordsIn(answer.content, stream)
  const next = pages && nextOf(api, stream, pages, { answer, records, cursor, scope })
  return { items: await changeRecords(records, stream.changes, scope), next }
}

/** The values of templates for a page, with the page: a number, or what the API gave. */
const scopeOf = ({ pages }: ApiStream, cursor: string | undefined, values: TemplateValues): TemplateValues =>
  pages && cursor !== undefined ? { ...values, page: givenBy(cursor) } : values

/** A cursor as it is stored: a text of digits in quotes, since the API could take it for a number without them. */
const storedCursor = (given: string | number): string =>
  typeof given === 'string' && /^(?:\d{1,15}$|")/.test(given) ? JSON.stringify(given) : String(given)

/** A cursor as the API gave it: a number, or a text such as `007`. */
function givenBy(cursor: string): string | number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  return cursor.startsWith('"') ? JSON.parse(cursor) : cursor
}

/** The request for a page. @param cursor leads to it; `undefined` for the first one */
export const requestOf = (stream: ApiStream, cursor: string | undefined, values: TemplateValues): PageRequest => ({
  values: scopeOf(stream, cursor, values),
  ...parametersOf(stream, cursor),
})

function parametersOf({ pages }: ApiStream, cursor: string | undefined): Omit<PageRequest, 'values'> {
  if (!pages) return { parameters: {} }
  const size = pages.sizeParameter === undefined ? {} : { [pages.sizeParameter]: pages.size ?? 0 }
  // Templates of the stream have the page then.
  if (pages.parameter === '' && /^(page|offset|cursor)$/.test(pages.by)) return { parameters: size }
  switch (pages.by) {
    case 'page':
      return { parameters: { ...size, [pages.parameter]: Number(cursor ?? pages.first) } }
    case 'offset':
      return { parameters: { ...size, [pages.parameter]: Number(cursor ?? 0) } }
    case 'cursor':
      return { parameters: cursor === undefined ? size : { ...size, [pages.parameter]: givenBy(cursor) } }
    default:
      return { parameters: size, ...(cursor === undefined ? {} : { address: cursor }) }
  }
}

type PageRead = {
  readonly answer: ApiAnswer
  readonly records: readonly JsonObject[]
  readonly cursor: string | undefined
  readonly scope: TemplateValues
}

function nextOf(
  api: Api,
  stream: ApiStream,
  pages: NonNullable<ApiStream['pages']>,
  { answer, records, cursor, scope }: PageRead,
): string | undefined {
  const { by, size, at, header, next, stop } = pages
  const count = records.length
  const { nowMs = Date.now(), ...names } = scope
  const resultOf = (expression: string): unknown => {
    const of = { ...names, ...scopeOfAnswer(answer, answer.content), last: records.at(-1) ?? null, count }
    return evaluate(expression, of, nowMs)
  }
  if (stop !== undefined && isTrue(resultOf(stop))) return undefined
  if (by === 'page' || by === 'offset') {
    if (count === 0 || (size !== undefined && count < size)) return undefined
    return String(by === 'page' ? Number(cursor ?? pages.first) + 1 : Number(cursor ?? 0) + count)
  }
  const token = by === 'link' ? linkToNext(answer.headers.get('link') ?? '') : tokenOf()
  if (token === undefined) return undefined
  if (String(token).length > tokenLengthMax) throw unusable(`with more than ${tokenLengthMax} characters`)
  return by === 'cursor' ? storedCursor(token) : api.nextAddress(stream, String(token))

  /** Nothing, null, false and an empty text are the end. */
  function tokenOf(): string | number | undefined {
    const value = next === undefined ? found() : resultOf(next)
    if (isEmpty(value) || value === false || (next !== undefined && !isTrue(value))) return undefined
    const isUsable = typeof value === 'string' || (by === 'cursor' && typeof value === 'number')
    if (!isUsable) throw unusable(`by ${kindOf(value)} instead of ${by === 'cursor' ? 'a text or a number' : 'a text'}`)
    return typeof value === 'number' ? value : textOfJson(value)
  }
  function found(): unknown {
    return header === undefined ? valueIn(answer.content, at) : answer.headers.get(header)
  }
}

/** The address of the next page in a `Link` header. Throws `malformed_response` if the header names the relation without an address. */
function linkToNext(header: string): string | undefined {
  const { next } = linksIn(header)
  const isNamed = next !== undefined || /;\s*rel\s*=\s*"?(?:[\w-]+\s+)*next\b/i.test(header)
  if (isNamed && !next) throw unusable('by a Link header without an address')
  return next
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`

const unusable = (how: string): ConnectorError =>
  new ConnectorError(
    'malformed_response',
    `An answer leads to the next page ${how}. Check the pages of the stream in the definition.`,
  )
