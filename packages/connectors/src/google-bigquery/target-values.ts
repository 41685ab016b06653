import type { Cell } from '@penstock/connector'
import {
  type ReadCell,
  type ReadValue,
  readAs,
  readBytes,
  readDay,
  readDecimal,
  readFloat,
  readInstant,
  readJsonText,
  readSigned,
  readText,
  readTime,
  readTimeOfDay,
  readTruth,
} from '../databases/typed-values.ts'
import type { TargetColumn } from '../kit/warehouse/table.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { fieldsIn } from './cells.ts'

/** A column of a table that rows go to. */
export type TargetField = TargetColumn & {
  /** As in `FieldType`. */
  readonly type: string
  readonly repeated: boolean
  /** The column as the API describes it, for a table with the same columns. It is nullable. */
  readonly schema: JsonObject
}

/** The columns in a table's schema, as the API returns it. */
export const targetFieldsIn = (schema: unknown): TargetField[] =>
  listIn(objectIn(schema).fields)
    .filter(isObject)
    .map((field) => {
      const [{ name, type, repeated } = { name: '', type: '', repeated: false }] = fieldsIn([field])
      const { mode, defaultValueExpression } = field
      const kept = ['name', 'type', 'fields', 'precision', 'scale', 'maxLength'].filter((key) => key in field)
      return {
        name,
        type,
        typeName: repeated ? `ARRAY<${type}>` : type,
        repeated,
        isUnjudged: unjudged.includes(type),
        isIncomparable: repeated || [...unjudged, 'RECORD', 'JSON', 'FLOAT'].includes(type),
        needed: mode === 'REQUIRED' && defaultValueExpression === undefined,
        read: readerFor(field),
        isAmbiguous: (textIn(field.collation) ?? '') !== '',
        schema: {
          ...Object.fromEntries(kept.map((key) => [key, field[key]])),
          mode: repeated ? 'REPEATED' : 'NULLABLE',
        },
      }
    })

/** Types whose values only BigQuery can judge. */
const unjudged = ['GEOGRAPHY', 'INTERVAL', 'RANGE']

/** Converts the cells of a column to values of the JSON that BigQuery loads. Lists and records arrive as JSON. */
function readerFor(field: JsonObject): ReadCell {
  const [{ type, repeated } = { type: '', repeated: false }] = fieldsIn([field])
  if (!repeated && type !== 'RECORD') return readerForType(type, field)
  return (cell) => {
    const json = readJsonText(cell)
    if ('reason' in json || json.value === null) return json
    return nested(JSON.parse(json.value), field, repeated)
  }
}

function readerForType(type: string, field: JsonObject): ReadCell {
  const [precision, scale] = [numberIn(field.precision), numberIn(field.scale)]
  switch (type) {
    case 'INTEGER':
      return readSigned(64n)
    case 'FLOAT':
      return readFloat
    case 'NUMERIC':
      return precision === undefined ? readDecimal(29, 9) : readDecimal(precision - (scale ?? 0), scale ?? 0)
    case 'BIGNUMERIC':
      return precision === undefined ? readDecimal(38, 38) : readDecimal(precision - (scale ?? 0), scale ?? 0)
    case 'BOOLEAN':
      return readTruth
    case 'DATE':
      return readDay()
    case 'TIME':
      return readTimeOfDay(6)
    case 'DATETIME':
      return readTime(6)
    case 'TIMESTAMP':
      return readInstant(6, 'Z')
    case 'BYTES':
      return readAs(readBytes(numberIn(field.maxLength)), (bytes) => bytes.toString('base64'))
    case 'JSON':
      // JSON as a text within JSON keeps the digits of its numbers.
      return readJsonText
    default:
      return readText(numberIn(field.maxLength))
  }
}

const misfit = { reason: 'The JSON of a list or record is not that of the column.' }

/** A value within JSON as one of a list, record or plain field. */
function nested(value: unknown, field: JsonObject, repeated: boolean): ReadValue {
  if (value === null || value === undefined) {
    return repeated || field.mode === 'REQUIRED' ? misfit : { value: null }
  }
  if (repeated) {
    if (!Array.isArray(value)) return misfit
    const values = value.map((each) => (each === null ? misfit : nested(each, field, false)))
    return values.find((each) => 'reason' in each) ?? { value: values.map((each) => 'value' in each && each.value) }
  }
  const [{ type } = { type: '' }] = fieldsIn([field])
  if (type === 'RECORD') return record(value, listIn(field.fields).filter(isObject))
  if (type === 'JSON') return { value: JSON.stringify(value) }
  return typeof value === 'object' ? misfit : readerForType(type, field)(value as Cell)
}

function record(value: unknown, fields: readonly JsonObject[]): ReadValue {
  if (!isObject(value)) return misfit
  const known = new Set(fields.map(({ name }) => textIn(name) ?? ''))
  if (Object.keys(value).some((key) => !known.has(key))) return misfit
  const entries: [string, unknown][] = []
  for (const field of fields) {
    const name = textIn(field.name) ?? ''
    const isList = field.mode === 'REPEATED'
    if (!Object.hasOwn(value, name) && isList) continue
    const read = nested(value[name], field, isList)
    if ('reason' in read) return read
    entries.push([name, read.value])
  }
  return { value: Object.fromEntries(entries) }
}
