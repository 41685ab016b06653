import { ConnectorError, type Values } from '@penstock/connector'
import type { ChangeTime } from '../platform-api/range.ts'
import type { Stream } from './stream-columns.ts'
import { streams } from './streams.ts'

const day = 24 * 60 * 60_000

/** The stream of the settings. Throws `invalid_setting` if there is no stream of that name. */
export function streamOf({ stream: name }: Values): { readonly name: string; readonly stream: Stream } {
  const key = String(name ?? 'Customers')
  const stream = Object.entries<Stream>(streams).find(([one]) => one === key)?.[1]
  if (stream) return { name: key, stream }
  throw new ConnectorError('invalid_setting', `Choose one of these streams: ${Object.keys(streams).join(', ')}.`)
}

/** The names of the columns of a stream. Columns of child objects begin with the ID of the parent object. */
export const columnsOf = ({ parent, columns }: Stream): readonly string[] => [
  ...(parent === undefined ? [] : [parent]),
  ...columns.map(({ name }) => name),
]

/** A filter for objects that changed within a time, and for some more if Shopify compares their days. */
export function filterOf({ changes, changedAt = 'updated_at' }: Stream, { fromMs, beforeMs }: ChangeTime): string {
  const time = (ms: number) => `'${new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')}'`
  // Shopify compares whole days of customers, in the time zone of the shop.
  const near = (ms: number, days: number) => (changes === 'day' ? (Math.floor(ms / day) + days) * day : ms)
  const from = `${changedAt}:>=${time(near(fromMs, -1))}`
  return beforeMs === undefined ? from : `${from} AND ${changedAt}:<${time(near(beforeMs, 2))}`
}

/**
 * The query of a stream, for a bulk operation.
 * @param filter of the objects of the query; all if absent
 */
export const bulkQuery = (stream: Stream, filter?: string): string => queryOf(stream, filter, {})

/** The same for a few rows, as an ordinary query, whose points must stay below 1,000. */
export const sampleQuery = (stream: Stream, filter?: string): string =>
  queryOf(stream, filter, stream.child === undefined ? { root: 10 } : { root: 5, child: 5 })

function queryOf(
  stream: Stream,
  filter: string | undefined,
  first: { readonly root?: number; readonly child?: number },
): string {
  const { root, child, union } = stream
  const inner = child === undefined ? ofTypes('', selectionOf(stream.columns, union), union) : `id ${belowOf(child)}`
  return `{ ${root}${argumentsOf({ first: first.root, query: filter })} { edges { node { ${inner} } } } }`

  function belowOf(path: string): string {
    const fields = selectionOf(stream.columns)
    const [connection = '', ...above] = path.split('.').reverse()
    const asked = `${connection}${argumentsOf({ first: first.child })} { edges { node { ${fields} } } }`
    return above.reduce((text, key) => `${key} { ${ofTypes(key, text, union)} }`, asked)
  }
}

/** The fields of an object, or of each type that it can have. */
const ofTypes = (key: string, fields: string, union: Stream['union'] | undefined): string =>
  union?.at === key ? union.types.map((type) => `... on ${type} { ${fields} }`).join(' ') : fields

function argumentsOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`],
  )
  return given.length === 0 ? '' : `(${given.join(', ')})`
}

type Selection = Map<string, Selection>

/** The fields of the columns, each once: `id amountSpent { amount currencyCode }`. */
function selectionOf(columns: Stream['columns'], union?: Stream['union']): string {
  const fields: Selection = new Map()
  for (const { at, fields: inner = [], arguments: given = '' } of columns) {
    let place = fields
    const keys = at.split('.')
    for (const [index, key] of keys.entries()) place = below(place, index === keys.length - 1 ? key + given : key)
    for (const key of inner) below(place, key)
  }
  return textOf(fields, union)
}

function below(place: Selection, key: string): Selection {
  const found = place.get(key) ?? new Map()
  place.set(key, found)
  return found
}

const textOf = (fields: Selection, union: Stream['union'] | undefined): string =>
  [...fields]
    .map(([key, inner]) => (inner.size === 0 ? key : `${key} { ${ofTypes(key, textOf(inner, union), union)} }`))
    .join(' ')
