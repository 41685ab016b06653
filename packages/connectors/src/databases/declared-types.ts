import type { ColumnType } from '@penstock/connector'

const kinds: Readonly<Record<string, ColumnType['kind']>> = {
  tinyint: 'smallint',
  smallint: 'smallint',
  int2: 'smallint',
  year: 'smallint',
  mediumint: 'integer',
  integer: 'integer',
  int: 'integer',
  int4: 'integer',
  bigint: 'bigint',
  int8: 'bigint',
  int64: 'bigint',
  decimal: 'decimal',
  numeric: 'decimal',
  number: 'decimal',
  bignumeric: 'decimal',
  real: 'double',
  float: 'double',
  float4: 'double',
  float8: 'double',
  float64: 'double',
  double: 'double',
  'double precision': 'double',
  boolean: 'boolean',
  bool: 'boolean',
  date: 'date',
  datetime: 'timestamp',
  timestamp_ntz: 'timestamp',
  'timestamp without time zone': 'timestamp',
  timestamp: 'instant',
  timestamp_tz: 'instant',
  timestamp_ltz: 'instant',
  'timestamp with time zone': 'instant',
  timestamptz: 'instant',
  json: 'json',
  jsonb: 'json',
  uuid: 'uuid',
}

/** The same without a sign holds twice as much. */
const unsigned: Partial<Record<ColumnType['kind'], ColumnType>> = {
  smallint: { kind: 'integer' },
  integer: { kind: 'bigint' },
  bigint: { kind: 'decimal', precision: 20, scale: 0 },
}

/**
 * Reads the type that a source declares, in the words of PostgreSQL, MySQL, Snowflake or BigQuery.
 * @param type `null` if it is unknown
 * @returns `text` for whatever it does not know, and for arrays
 */
export function readDeclaredType(type: string | null): ColumnType {
  const words = (type ?? '').toLowerCase().trim()
  const [, first = '', digits, places, rest = ''] =
    /^([a-z_0-9 ]+)(?:\((\d+)(?:, *(\d+))?\))?([a-z_ ]*)$/.exec(words) ?? []
  const signless = / unsigned/.test(` ${first}${rest}`)
  const name = `${first.trim()} ${rest.trim()}`.replace(/ (unsigned|zerofill)/g, '').trim()
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  if (kind === undefined) return { kind: 'text' }
  if (kind !== 'decimal') return (signless ? unsigned[kind] : undefined) ?? ({ kind } as ColumnType)
  return digits === undefined ? { kind } : { kind, precision: Number(digits), scale: Number(places ?? 0) }
}
