import {
  asWritten,
  currency,
  decimal,
  type EventColumn,
  type EventColumns,
  eventId,
  flag,
  moment,
  object,
  objects,
  oneOf,
  plain,
  special,
  texts,
  time,
  whole,
} from '../../kit/columns.ts'
import type { ApiOperation, OperationColumn } from '../definition/definition.ts'

/** The column that holds the ID of a row, which stays the same if the row comes again. It is not sent unless a template names it. */
export const idPath = '@id'

/** The columns of an operation, as destinations of events read them. */
export const eventColumnsOf = ({ columns }: Pick<ApiOperation, 'columns'>): EventColumns => ({
  ...Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, eventColumn(name, column)])),
  // No column can have this name.
  [idPath]: eventId(idPath, ''),
})

function eventColumn(to: string, column: OperationColumn): EventColumn {
  const { description, type, required, identifies, lengthMax, merges, values = [], unit = 'iso' } = column
  const options = { required, identifies }
  switch (type) {
    case 'text':
      return plain(to, description, { ...options, ...(lengthMax && { lengthMax }) })
    case 'number':
      return decimal(to, description, options)
    case 'whole number':
      return whole(to, description, options)
    case 'yes or no':
      return flag(to, description, options)
    case 'time':
      return time(to, description, { unit, ...options })
    case 'moment':
      return moment(to, description, options)
    case 'one of':
      return oneOf(to, description, {
        values: asWritten(...values),
        wanted: `one of: ${values.join(', ')}`,
        ...options,
      })
    case 'currency':
      return currency(to, description, options)
    case 'list':
      return texts(to, description, options)
    case 'object':
      return object(merges ? '' : to, description, options)
    case 'objects':
      return objects(to, description, options)
    case 'sha256':
      return digestColumn(to, description, options)
    case 'md5':
      return digestColumn(to, description, { ...options, hash: 'md5' })
  }
}

/** A digest that comes as one: no form of the value before it is known. */
function digestColumn(
  to: string,
  description: string,
  { hash, ...options }: { required: boolean; identifies: boolean; hash?: 'md5' },
): EventColumn {
  return { ...special(description, options), to, reading: { kind: 'digest', ...(hash && { hash }) } }
}
