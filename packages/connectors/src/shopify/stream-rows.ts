import type { Cell, ColumnType, Row } from '@penstock/connector'
import { valueAt } from '../kit/run/open-api.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { Stream, StreamColumn } from './stream-columns.ts'

/** The types of the columns, in the order of `columnsOf`. */
export const typesOf = ({ parent, columns }: Stream): readonly (ColumnType | null)[] => [
  ...(parent === undefined ? [] : [null]),
  ...columns.map(({ type }) => type),
]

/**
 * The row of a line of a result. `undefined` if the line is a parent object of the stream's objects. Lines of child objects
 * contain the ID of their parent, and need not follow it.
 */
export function rowOf({ parent, columns }: Stream, item: JsonObject): Row | undefined {
  const above = textIn(item.__parentId)
  if ((above !== undefined) !== (parent !== undefined)) return undefined
  return [...(above === undefined ? [] : [above]), ...columns.map((column) => cellIn(column, item))]
}

/** The rows of an answer to a query for a few of them. */
export function sampleRows(stream: Stream, data: JsonObject): Row[] {
  const nodesIn = (connection: unknown) =>
    listIn(objectIn(connection).edges).map((edge) => objectIn(objectIn(edge).node))
  const { root, child } = stream
  return nodesIn(data[root]).flatMap((node) => {
    const items =
      child === undefined ? [node] : nodesIn(valueAt(node, child)).map((one) => ({ ...one, __parentId: node.id }))
    return items.flatMap((item) => {
      const row = rowOf(stream, item)
      return row === undefined ? [] : [row]
    })
  })
}

function cellIn({ at, type, quantity }: StreamColumn, item: JsonObject): Cell {
  const found = valueAt(item, at)
  const value =
    quantity === undefined
      ? found
      : listIn(found)
          .map(objectIn)
          .find(({ name }) => name === quantity)?.quantity
  if (value === undefined || value === null) return null
  if (type?.kind === 'json') return JSON.stringify(value)
  if (typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number') return type?.kind === 'decimal' ? String(value) : value
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : null
}
