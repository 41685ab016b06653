import type { ColumnType } from '@penstock/parquet'
import { cellsOf, type Element, type FromStored, typeOfElement } from '@penstock/parquet/values'
import { bounds } from '../bounds.ts'

/** A defect of an Avro file that this reader found. */
export class AvroDamage extends Error {}

/** A type of Avro, after it was read. */
export type AvroType =
  | {
      readonly kind: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes'
      readonly name: string
      readonly cell: FromStored
      readonly column: ColumnType | null
    }
  | {
      readonly kind: 'fixed'
      readonly name: string
      readonly size: number
      readonly cell: FromStored
      readonly column: ColumnType | null
    }
  | { readonly kind: 'enum'; readonly symbols: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly items: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | AvroRecord

export type AvroRecord = {
  readonly kind: 'record'
  readonly fields: { readonly name: string; readonly type: AvroType }[]
}

const whole: Element = {
  type: 'INT64',
  typeLength: 0,
  converted: undefined,
  logical: undefined,
  scale: 0,
  precision: 0,
}
const elements = {
  null: whole,
  boolean: { ...whole, type: 'BOOLEAN' },
  int: { ...whole, type: 'INT32' },
  long: whole,
  float: { ...whole, type: 'FLOAT' },
  double: { ...whole, type: 'DOUBLE' },
  bytes: { ...whole, type: 'BYTE_ARRAY' },
  string: { ...whole, type: 'BYTE_ARRAY', converted: 'UTF8' },
  fixed: { ...whole, type: 'FIXED_LEN_BYTE_ARRAY' },
} as const satisfies Record<string, Element>
type Stored = keyof typeof elements

const isStored = (name: string): name is Stored => Object.hasOwn(elements, name)

/**
 *  Logical types, which define the meaning of a stored type. By the format, a logical type that is invalid for its type is
 *  ignored.
 */
const logicalTypes: Readonly<Record<string, { readonly of: readonly Stored[]; readonly element: Partial<Element> }>> = {
  date: { of: ['int'], element: { converted: 'DATE' } },
  'time-millis': { of: ['int'], element: { logical: { type: 'TIME', digits: 3, utc: false } } },
  'time-micros': { of: ['long'], element: { logical: { type: 'TIME', digits: 6, utc: false } } },
  ...Object.fromEntries(
    [true, false].flatMap((utc) =>
      (
        [
          ['millis', 3],
          ['micros', 6],
          ['nanos', 9],
        ] as const
      ).map(([unit, digits]) => [
        `${utc ? '' : 'local-'}timestamp-${unit}`,
        { of: ['long'], element: { logical: { type: 'TIMESTAMP', digits, utc } } },
      ]),
    ),
  ),
  decimal: { of: ['bytes', 'fixed'], element: { converted: 'DECIMAL' } },
  uuid: { of: ['fixed'], element: { logical: { type: 'UUID' } } },
}

type Definition = Readonly<Record<string, unknown>>
const isDefinition = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const scaleMax = 1_000

/**
 * Reads a schema.
 * @param text JSON
 * @returns the type of the records of the file
 * @throws `AvroDamage` if it is invalid or too large
 */
export function readAvroSchema(text: string): AvroType {
  const named = new Map<string, AvroType>()
  let count = 0
  const read = (schema: unknown, namespace: string, depth: number): AvroType => {
    count += 1
    if (count > bounds.avro.types || depth > bounds.nestingLevels) throw new AvroDamage('an endless schema')
    if (Array.isArray(schema)) {
      return { kind: 'union', branches: schema.map((branch) => read(branch, namespace, depth + 1)) }
    }
    if (typeof schema === 'string') {
      const type = isStored(schema) ? undefined : (named.get(fullName(schema, namespace)) ?? named.get(schema))
      if (type) return type
      if (!isStored(schema) || schema === 'fixed') throw new AvroDamage(`the type ${schema.slice(0, 100)}`)
      return storedType(schema, {})
    }
    if (!isDefinition(schema)) throw new AvroDamage('an invalid type')
    const { type, items, values, fields, symbols, name } = schema
    switch (type) {
      case 'array':
        return { kind: 'array', items: read(items, namespace, depth + 1) }
      case 'map':
        return { kind: 'map', items: read(values, namespace, depth + 1) }
      case 'record':
      case 'error': {
        const full = fullName(nameOf(name), typeof schema.namespace === 'string' ? schema.namespace : namespace)
        const record: AvroRecord = { kind: 'record', fields: [] }
        // A record can contain itself.
        named.set(full, record)
        if (!Array.isArray(fields)) throw new AvroDamage('a record without fields')
        for (const field of fields) {
          if (!isDefinition(field)) throw new AvroDamage('an invalid field')
          const inside = full.slice(0, Math.max(0, full.lastIndexOf('.')))
          record.fields.push({ name: nameOf(field.name), type: read(field.type, inside, depth + 1) })
        }
        return record
      }
      case 'enum': {
        if (!Array.isArray(symbols) || !symbols.every((symbol) => typeof symbol === 'string')) {
          throw new AvroDamage('an enum without symbols')
        }
        return define(schema, namespace, { kind: 'enum', symbols })
      }
      case 'fixed':
        return define(schema, namespace, storedType('fixed', schema))
    }
    if (typeof type === 'string' && isStored(type)) return storedType(type, schema)
    return read(type, namespace, depth + 1)
  }
  const define = (schema: Definition, namespace: string, type: AvroType): AvroType => {
    named.set(fullName(nameOf(schema.name), typeof schema.namespace === 'string' ? schema.namespace : namespace), type)
    return type
  }
  return read(parsed(text), '', 0)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AvroDamage('a schema that is not JSON')
  }
}

function nameOf(name: unknown): string {
  if (typeof name !== 'string' || name === '') throw new AvroDamage('an invalid name')
  return name
}

const fullName = (name: string, namespace: string): string =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`

function storedType(type: Stored, { logicalType, scale = 0, precision, size }: Definition): AvroType {
  const isLogical = typeof logicalType === 'string' && Object.hasOwn(logicalTypes, logicalType)
  const logical = isLogical ? logicalTypes[logicalType] : undefined
  const fits = logical?.of.includes(type) && isWholeUpTo(scale, scaleMax) && (logicalType !== 'uuid' || size === 16)
  const element = {
    ...elements[type],
    ...(fits ? { ...logical?.element, scale: Number(scale), precision: digitsOf(precision) } : {}),
  }
  const isDuration = logicalType === 'duration' && size === 12
  const cell = isDuration ? durationOf : cellsOf(element)
  const name = fits ? String(logicalType) : type
  const column = isDuration ? null : typeOfElement(element)
  if (type !== 'fixed') return { kind: type === 'string' ? 'bytes' : type, name, cell, column }
  if (!isWholeUpTo(size, bounds.cellBytes)) throw new AvroDamage('values without a size')
  return { kind: 'fixed', name, size: Number(size), cell, column }
}

/** Digits of decimals; 0 if the file does not declare them. */
const digitsOf = (precision: unknown): number => (isWholeUpTo(precision, scaleMax) ? Number(precision) : 0)

/** Declared types below a column. Records can contain themselves, or share others, so the number can be infinite. */
const nestedTypesMax = 1_000

/** The type of a column of a file; `null` if its values are text, or of several types. */
export function columnTypeOf(type: AvroType): ColumnType | null {
  const left = { types: nestedTypesMax }
  const declared = declaredType(type, left)
  return left.types < 0 ? { kind: 'json' } : declared
}

function declaredType(type: AvroType, left: { types: number }): ColumnType | null {
  left.types -= 1
  if (left.types < 0) return null
  switch (type.kind) {
    case 'record':
      return {
        kind: 'struct',
        fields: type.fields.map((field) => ({ name: field.name, type: declaredType(field.type, left) })),
      }
    case 'array':
      return { kind: 'list', items: declaredType(type.items, left) }
    case 'map':
      return { kind: 'json' }
    case 'enum':
    case 'null':
      return null
    case 'union': {
      const [only, ...others] = type.branches.filter(({ kind }) => kind !== 'null')
      return only && others.length === 0 ? declaredType(only, left) : null
    }
    default:
      return type.column
  }
}

const isWholeUpTo = (value: unknown, max: number): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max

/** Months, days and milliseconds as an ISO 8601 duration. */
const durationOf: FromStored = (value) => {
  const bytes = value as Buffer
  const ms = bytes.readUInt32LE(8)
  return `P${bytes.readUInt32LE(0)}M${bytes.readUInt32LE(4)}DT${Math.floor(ms / 1_000)}.${String(ms % 1_000).padStart(3, '0')}S`
}

/**
 *  The type of a field in the words of the format: `string`, `timestamp-millis`, `long or string`. It does not show that the
 *  field can be null.
 */
export function avroTypeName(type: AvroType): string {
  if (type.kind !== 'union') return 'name' in type ? type.name : type.kind
  const names = type.branches.filter(({ kind }) => kind !== 'null').map(avroTypeName)
  return names.length === 0 ? 'null' : [...new Set(names)].join(' or ')
}
