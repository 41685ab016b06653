import type { Cell, ColumnType } from '@penstock/connector'
import pg from 'pg'
import { notOrdered } from '../databases/keyset.ts'
import { cellOf as cellOfText, type PostgresCellKind, columnTypeOf as typeOf } from '../postgresql/cells.ts'

/** A column of a result, as the protocol describes it. */
export type RedshiftField = Pick<pg.FieldDef, 'name' | 'dataTypeID' | 'dataTypeModifier'>

/** The identifiers of types: PostgreSQL's, and some that only Redshift has. */
export const oids = {
  boolean: 16,
  bigint: 20,
  smallint: 21,
  integer: 23,
  text: 25,
  real: 700,
  double: 701,
  char: 1042,
  varchar: 1043,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  timestamptz: 1184,
  decimal: 1700,
  hllsketch: 2935,
  geometry: 3000,
  geography: 3001,
  super: 4000,
  varbyte: 6551,
} as const

const kinds: Readonly<Record<number, PostgresCellKind>> = {
  [oids.boolean]: 'boolean',
  [oids.smallint]: 'number',
  [oids.integer]: 'number',
  [oids.real]: 'number',
  [oids.double]: 'number',
  [oids.timestamp]: 'local-time',
  [oids.timestamptz]: 'time',
}

/**
 * Converts a text of the server to a cell, as for PostgreSQL. The JSON of SUPER stays text, and VARBYTE, which arrives as
 * hexadecimal digits, gets the \x that other sources use.
 */
export function cellOf(text: string | null, { dataTypeID }: RedshiftField): Cell {
  if (text !== null && dataTypeID === oids.varbyte) return `\\x${text.toLowerCase()}`
  return cellOfText(text, kinds[dataTypeID] ?? 'text')
}

/** The type of a column, for destinations that have types. `null` if it is text. */
export function columnTypeOf(column: RedshiftField): ColumnType | null {
  if (column.dataTypeID === oids.super) return { kind: 'json' }
  if (column.dataTypeID === oids.varbyte) return { kind: 'bytes' }
  return typeOf(column, 'text')
}

/** The name of a type, for messages and lists. */
export const typeNameOf = ({ dataTypeID }: Pick<RedshiftField, 'dataTypeID'>): string =>
  Object.entries(oids).find(([, oid]) => oid === dataTypeID)?.[0] ?? `type ${dataTypeID}`

/**
 * SQL that returns different texts for different values, for a digest of the row. Throws `invalid_setting` if there is no such
 * SQL.
 */
export function textSqlOf(expression: string, column: RedshiftField): string {
  switch (column.dataTypeID) {
    case oids.char:
    case oids.varchar:
    case oids.text:
      return expression
    // Redshift casts no boolean to text.
    case oids.boolean:
      return `case when ${expression} then 't' when not ${expression} then 'f' end`
    case oids.super:
      return `json_serialize(${expression})`
    case oids.varbyte:
      return `to_hex(${expression})`
    case oids.geometry:
      return `st_asewkt(${expression})`
    case oids.hllsketch:
    case oids.geography:
      throw notOrdered({ name: column.name, type: typeNameOf(column) })
    default:
      return `cast(${expression} as varchar(100))`
  }
}

/**
 * The type to which the text of a key is cast, so that the comparison is exact. Throws `invalid_setting` if rows cannot be ordered
 * by the column.
 */
export function keyTypeOf({ name, dataTypeID, dataTypeModifier }: RedshiftField): (text: string) => string {
  const fixed: Readonly<Record<number, string>> = {
    [oids.bigint]: 'bigint',
    [oids.smallint]: 'smallint',
    [oids.integer]: 'integer',
    [oids.varchar]: 'varchar(65535)',
    [oids.text]: 'varchar(65535)',
    [oids.date]: 'date',
    [oids.time]: 'time',
    [oids.timestamp]: 'timestamp',
    [oids.timestamptz]: 'timestamptz',
    [oids.char]: `char(${Math.max(1, dataTypeModifier - 4)})`,
  }
  const type = fixed[dataTypeID]
  if (type !== undefined) return () => type
  // A decimal without a scale would be rounded to a whole number.
  if (dataTypeID === oids.decimal) return (text) => `decimal(38, ${text.split('.')[1]?.length ?? 0})`
  throw notOrdered({ name, type: typeNameOf({ dataTypeID }) })
}

/** The kind of cursor that a column can be: `number`, `time` or `day`. `undefined` if the column cannot be a cursor. */
export function cursorKindOf({ dataTypeID }: RedshiftField): 'number' | 'time' | 'day' | undefined {
  if ([oids.bigint, oids.smallint, oids.integer, oids.decimal].some((oid) => oid === dataTypeID)) return 'number'
  if (dataTypeID === oids.date) return 'day'
  return dataTypeID === oids.timestamp || dataTypeID === oids.timestamptz ? 'time' : undefined
}

/** A name in a statement. */
export const quoteName = (name: string): string => pg.escapeIdentifier(name)
