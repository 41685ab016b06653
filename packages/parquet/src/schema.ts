import { ConvertedTypes, FieldRepetitionTypes, ParquetTypes } from 'hyparquet/src/constants.js'
import { parquetBounds } from './bounds.ts'
import { ParquetError } from './parquet-error.ts'
import type { RowLimits } from './rows.ts'
import { numberOf, structOf, type Thrift, type ThriftStruct, textOf } from './thrift.ts'

/** Columns of a Parquet file, from its footer. */

export type StoredType = (typeof ParquetTypes)[number]

/** How the values of a column are stored, and their meaning. */
export type Element = {
  readonly type: StoredType
  /** Bytes of each value of `FIXED_LEN_BYTE_ARRAY`. */
  readonly typeLength: number
  /** The older name of the logical type; undefined if there is none. */
  readonly converted: (typeof ConvertedTypes)[number] | undefined
  readonly logical: Logical | undefined
  /** Fractional digits of decimals. */
  readonly scale: number
  /** Digits of decimals; 0 if the file does not declare them. */
  readonly precision: number
}

export type Logical =
  | { readonly type: 'TIME' | 'TIMESTAMP'; readonly digits: 3 | 6 | 9; readonly utc: boolean }
  | { readonly type: 'INTEGER'; readonly bits: number; readonly signed: boolean }
  | { readonly type: (typeof plainLogical)[number][1] }

/** A column, or a node nested in a column. */
export type SchemaNode = {
  readonly name: string
  readonly path: readonly string[]
  readonly repetition: (typeof FieldRepetitionTypes)[number]
  /** The levels of a value that is present: the optional and repeated nodes, and only the repeated nodes, down to this node. */
  readonly definition: number
  readonly repeats: number
  /** A list of the values of its only child, a map from keys to values, fields, or values themselves. */
  readonly kind: 'list' | 'map' | 'struct' | 'value'
  readonly children: readonly SchemaNode[]
  /** How values are stored; undefined if there are children. */
  readonly element: Element | undefined
}

/**
 * Reads the columns of a schema.
 * @param elements as in the footer: depth first, each with the number of its children
 * @throws a `ParquetError` if there are too many columns or they are nested too deep, an error of another kind if it is not a
 * schema
 */
export function readSchema(elements: readonly ThriftStruct[], limits: RowLimits): readonly SchemaNode[] {
  if (elements.length > parquetBounds.schemaElements) throw tooManyElements()
  let next = 0
  const readNode = (parent: Pick<SchemaNode, 'path' | 'definition' | 'repeats'>, depth: number): SchemaNode => {
    if (depth > limits.nestingLevels) throw nestedTooDeep(limits)
    const fields = elements[next]
    if (!fields) throw new Error('a schema that is not whole')
    next += 1
    const name = textOf(fields[4])
    const repetition = FieldRepetitionTypes[numberOf(fields[3], 0)]
    if (name === undefined || repetition === undefined) throw new Error('a column without a name')
    if (logicalOf(fields[10])?.type === 'VARIANT') throw variant(name)
    const path = [...parent.path, name]
    const definition = parent.definition + (repetition === 'REQUIRED' ? 0 : 1)
    const repeats = parent.repeats + (repetition === 'REPEATED' ? 1 : 0)
    const children = readChildren(numberOf(fields[5], 0), { path, definition, repeats }, depth + 1)
    const element = children.length > 0 ? undefined : elementOf(fields, limits)
    const kind = element ? 'value' : kindOf(fields, children)
    return { name, path, repetition, definition, repeats, kind, children, element }
  }
  const readChildren = (count: number, parent: Pick<SchemaNode, 'path' | 'definition' | 'repeats'>, depth: number) => {
    if (count < 0 || count > elements.length - next) throw new Error('a schema that is not whole')
    return Array.from({ length: count }, () => readNode(parent, depth))
  }
  const [root] = elements
  if (!root) throw new Error('no schema')
  next = 1
  const columns = readChildren(numberOf(root[5], 0), { path: [], definition: 0, repeats: 0 }, 0)
  if (next !== elements.length) throw new Error('a schema with elements that belong to nothing')
  return columns
}

/**
 * The type of a column in the words of the format, such as `STRING`, `INT64` or `LIST`: its logical type, or else its physical
 * type.
 */
export function typeNameOf({ kind, repetition, element }: SchemaNode): string {
  if (!element) return kind.toUpperCase()
  const { type, converted, logical } = element
  const meant =
    logical?.type === 'INTEGER'
      ? `${logical.signed ? '' : 'U'}INT${logical.bits}`
      : (logical?.type ?? converted ?? type)
  const name = meant === 'UTF8' ? 'STRING' : meant.replace(/_(?:MILLIS|MICROS)$/, '')
  return repetition === 'REPEATED' ? `LIST of ${name}` : name
}

/** The leaves below nodes, in the order in which row groups have them. */
export const leavesOf = (nodes: readonly SchemaNode[]): SchemaNode[] =>
  nodes.flatMap((node) => (node.element ? [node] : leavesOf(node.children)))

const tooManyElements = () =>
  new ParquetError(
    'too_many_columns',
    `has a schema of more than ${parquetBounds.schemaElements} columns and groups`,
    'Leave columns out.',
  )

const nestedTooDeep = ({ nestingLevels }: RowLimits) =>
  new ParquetError(
    'too_many_columns',
    `has a column that is nested more than ${nestingLevels} levels deep`,
    'Leave the column out.',
  )

const variant = (name: string) =>
  new ParquetError(
    'unsupported',
    `has the column ${name.slice(0, 100)} of the type VARIANT, which is not read`,
    'Write it as JSON text, or leave it out.',
  )

/** The kind of a group of columns, by the rules of the format for lists and maps. Any other group has fields. */
function kindOf(fields: ThriftStruct, children: readonly SchemaNode[]): SchemaNode['kind'] {
  const converted = convertedOf(fields)
  const logical = logicalOf(fields[10])?.type
  const [only, ...others] = children
  if (!only || others.length > 0 || only.repetition !== 'REPEATED') return 'struct'
  if (converted === 'LIST' || logical === 'LIST') return only.children.length > 1 ? 'struct' : 'list'
  const isMap = converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical === 'MAP'
  const [key, value] = only.children
  if (!isMap || only.children.length !== 2 || !key?.element || !value) return 'struct'
  return key.repetition === 'REPEATED' || value.repetition === 'REPEATED' ? 'struct' : 'map'
}

const convertedOf = (fields: ThriftStruct) =>
  fields[6] === undefined ? undefined : ConvertedTypes[numberOf(fields[6])]

const scaleMax = 1_000

function elementOf(fields: ThriftStruct, { cellBytes }: RowLimits): Element {
  const type = ParquetTypes[numberOf(fields[1])]
  if (type === undefined) throw new Error('a column of no type')
  const typeLength = numberOf(fields[2], 0)
  if (type === 'FIXED_LEN_BYTE_ARRAY' && (typeLength < 1 || typeLength > cellBytes)) {
    throw new Error('values of no length')
  }
  const scale = numberOf(fields[7], numberOf(structOf(structOf(fields[10])?.[5])?.[1], 0))
  if (scale < 0 || scale > scaleMax) throw new Error('decimals that have no scale')
  const precision = numberOf(fields[8], numberOf(structOf(structOf(fields[10])?.[5])?.[2], 0))
  return { type, typeLength, scale, precision, converted: convertedOf(fields), logical: logicalOf(fields[10]) }
}

/** The logical types without parameters, by their fields. Missing types change nothing. */
const plainLogical = [
  [1, 'STRING'],
  [2, 'MAP'],
  [3, 'LIST'],
  [4, 'ENUM'],
  [5, 'DECIMAL'],
  [6, 'DATE'],
  [12, 'JSON'],
  [14, 'UUID'],
  [15, 'FLOAT16'],
  [16, 'VARIANT'],
] as const

function logicalOf(value: Thrift): Logical | undefined {
  const logical = structOf(value)
  if (!logical) return undefined
  for (const [field, type] of [
    [7, 'TIME'],
    [8, 'TIMESTAMP'],
  ] as const) {
    const time = structOf(logical[field])
    if (!time) continue
    const unit = structOf(time[2]) ?? {}
    const digits = unit[3] !== undefined ? 9 : unit[2] !== undefined ? 6 : 3
    return { type, digits, utc: time[1] === true }
  }
  const integer = structOf(logical[10])
  if (integer) return { type: 'INTEGER', bits: numberOf(integer[1], 0), signed: integer[2] === true }
  const plain = plainLogical.find(([field]) => logical[field] !== undefined)
  return plain && { type: plain[1] }
}
