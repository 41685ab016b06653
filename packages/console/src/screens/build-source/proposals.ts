import {
  ExactNumber,
  entriesOf,
  isContainer,
  isObject,
  keysOf,
  matches,
  pathText,
  recordsAt,
  valueAt,
} from './answer-json.ts'

/** Suggestions of an answer for a stream: its records, and the way to the next page. */

/** Settings of pages, as a definition has them. */
export type PagesValues = Readonly<Record<string, unknown>>

/** A list of objects in an answer. */
export type FoundList = { readonly keys: readonly string[]; readonly items: number }

const depthMax = 5

/** The list of objects with the most entries; `undefined` if the answer is a list itself or has none. */
export function listIn(answer: unknown): FoundList | undefined {
  if (Array.isArray(answer)) return undefined
  let best: FoundList | undefined
  each(answer, (keys, value) => {
    if (!Array.isArray(value) || !value.some(isObject)) return
    if (!best || value.length > best.items) best = { keys, items: value.length }
  })
  return best
}

/** Values in objects, not those in lists. */
function each(value: unknown, visit: (keys: readonly string[], value: unknown) => void, keys: readonly string[] = []) {
  if (!isObject(value) || keys.length >= depthMax) return
  for (const [key, one] of entriesOf(value)) {
    visit([...keys, key], one)
    each(one, visit, [...keys, key])
  }
}

const nextName =
  /^(?:@odata\.nextlink|next(?:_?(?:page|link|url|uri|href))*|(?:next|following)_?(?:page)?_?(?:url|link)?|href)$/i
const cursorName =
  /^(?:(?:next_?)?cursor|next_?(?:page_?)?(?:token|key|id|marker)|(?:page|continuation|pagination|scroll)_?(?:token|id|key)|continuation|after|offset_?token|end_?cursor|starting_?after|next)$/i

/** The names of parameters that take a value from the answer, by the name of the value. */
function parameterFor(keys: readonly string[]): string {
  const name = keys.at(-1) ?? ''
  const bare = name.replace(/^next_?/i, '').replace(/^end_?/i, '')
  return bare === '' ? 'cursor' : `${bare.charAt(0).toLowerCase()}${bare.slice(1)}`
}

/** An address, or the path of one. */
const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:https?:\/\/|\/)\S+$/.test(value)

/**
 * The way to the next page that an answer suggests; `undefined` if it suggests none.
 * @param records the path to the records, in which nothing leads to a page
 * @param query the parameters of the request
 */
export function pagesIn(
  answer: unknown,
  headers: readonly { readonly name: string; readonly value: string }[],
  records: readonly string[],
  query: Readonly<Record<string, unknown>> = {},
): PagesValues | undefined {
  if (headers.some(({ name, value }) => name === 'link' && /rel="?next\b/i.test(value))) return { by: 'link' }
  let found: PagesValues | undefined
  each(answer, (keys, value) => {
    if (found || (records.length > 0 && matches(keys.slice(0, records.length), records))) return
    const name = keys.at(-1) ?? ''
    const isBelowNext = /^next$/i.test(keys.at(-2) ?? '')
    if (isAddress(value) && (nextName.test(name) || isBelowNext) && (name !== 'href' || isBelowNext)) {
      found = { by: 'url', at: pathText(keys) }
    } else if (isToken(value) && cursorName.test(name)) found = cursorPages(keys)
  })
  if (found) return found
  const numbered = Object.keys(query).find((name) => /^(?:page|page_?number|p|pageindex)$/i.test(name))
  if (numbered !== undefined) return { by: 'page', parameter: numbered }
  const skipped = Object.keys(query).find((name) => /^(?:offset|skip|start)$/i.test(name))
  if (skipped !== undefined) return { by: 'offset', parameter: skipped }
  return hasPageNumber(answer) ? { by: 'page', parameter: 'page' } : undefined
}

const isToken = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || (value instanceof ExactNumber && !/^0$/.test(value.source))

function hasPageNumber(answer: unknown): boolean {
  let has = false
  each(answer, (keys, value) => {
    has ||=
      value instanceof ExactNumber &&
      /^(?:current_?)?page(?:_?number)?$|^total_?pages$|^page_?count$/i.test(keys.at(-1) ?? '')
  })
  return has
}

const cursorPages = (keys: readonly string[]): PagesValues => ({
  by: 'cursor',
  parameter: parameterFor(keys),
  at: pathText(keys),
})

/** The settings of pages for a value of the answer that a user picked as the way to the next page. */
export const pagesByValue = (value: unknown, keys: readonly string[]): PagesValues =>
  isAddress(value) ? { by: 'url', at: pathText(keys) } : cursorPages(keys)

/** Whether the records that a definition names are in an answer. */
export const hasRecords = (answer: unknown, records: unknown): boolean => {
  const keys = keysOf(records)
  if (keys.length === 0) return Array.isArray(answer)
  return keys.includes('*') ? recordsAt(answer, keys).length > 0 : isContainer(valueAt(answer, keys))
}
