import { isDeepStrictEqual } from 'node:util'
import type { EngineResult, WarehouseEngine } from './warehouse-engine.ts'

/** A refusal of BigQuery: status and reason. */
export class Refusal extends Error {
  readonly status: number
  readonly reason: string
  constructor(status: number, reason: string, message = reason) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** How BigQuery calls a type of DuckDB. */
export function typeOf(type: string): string {
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'INTEGER'
  if (type.startsWith('DECIMAL')) return 'NUMERIC'
  const names = {
    DOUBLE: 'FLOAT',
    BOOLEAN: 'BOOLEAN',
    DATE: 'DATE',
    TIME: 'TIME',
    TIMESTAMP: 'DATETIME',
    BLOB: 'BYTES',
  }
  if (type === 'TIMESTAMP_S') return 'TIMESTAMP'
  return names[type as keyof typeof names] ?? 'STRING'
}

const duckTypes: Readonly<Record<string, string>> = {
  STRING: 'varchar',
  INTEGER: 'bigint',
  FLOAT: 'double',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIME: 'time',
  DATETIME: 'timestamp',
  TIMESTAMP: 'timestamp_s',
  BYTES: 'blob',
}

export type TableField = { name: string; type: string; mode?: string; precision?: string; scale?: string }
export type TableReference = { projectId: string; datasetId: string; tableId: string }
export type LoadConfiguration = {
  destinationTable: TableReference
  sourceFormat: string
  createDisposition: string
  writeDisposition: string
  maxBadRecords: number
  encoding: string
  /** Google's own client repeats the location here, and BigQuery ignores it. */
  location?: string
}
export type LoadError = { readonly reason: string; readonly message: string }

/** The tables of the dataset `crm`, and loads into them, by the rules of BigQuery. */
export type BigQueryTables = {
  describe(tableId: string): Promise<object>
  create(body: {
    tableReference: TableReference
    schema: { fields: TableField[] }
    expirationTime?: string
  }): Promise<object>
  drop(tableId: string): Promise<void>
  /** Loads lines of JSON; resolves with the errors, of which one loads nothing. */
  load(configuration: LoadConfiguration, lines: string): Promise<readonly LoadError[]>
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export function makeBigQueryTables(engine: WarehouseEngine, project: string, location: string): BigQueryTables {
  const rowsOf = async (text: string, values: string[]): Promise<EngineResult['rows']> =>
    (await engine.run(text, values)).rows

  async function fieldsOf(tableId: string): Promise<TableField[]> {
    const rows = await rowsOf(
      `select column_name, data_type, is_nullable from information_schema.columns
        where table_schema = 'crm' and table_name = $1 order by ordinal_position`,
      [tableId],
    )
    if (rows.length === 0) throw new Refusal(404, 'notFound', `Not found: Table ${project}:crm.${tableId}`)
    return rows.map(([name, type, nullable]) => {
      const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type ?? '') ?? []
      return {
        name: name ?? '',
        type: typeOf(type ?? ''),
        mode: nullable === 'NO' ? 'REQUIRED' : 'NULLABLE',
        ...(precision === undefined || scale === undefined ? {} : { precision, scale }),
      }
    })
  }

  async function describe(tableId: string): Promise<object> {
    const fields = await fieldsOf(tableId)
    const [found] = await rowsOf(`select table_oid from duckdb_tables() where table_name = $1`, [tableId])
    return {
      kind: 'bigquery#table',
      tableReference: { projectId: project, datasetId: 'crm', tableId },
      type: found ? 'TABLE' : 'VIEW',
      location,
      creationTime: String(1_750_000_000_000 + Number(found?.[0] ?? 0)),
      schema: { fields },
    }
  }

  return {
    describe,
    async create({ tableReference, schema, expirationTime = '9999999999999', ...strange }) {
      const { datasetId, tableId } = tableReference
      if (Object.keys(strange).length > 0 || Number(expirationTime) < Date.now()) throw new Refusal(400, 'invalid')
      if (datasetId !== 'crm') throw new Refusal(404, 'notFound', `Not found: Dataset ${project}:${datasetId}`)
      const found = await describe(tableId).catch(() => undefined)
      if (found) throw new Refusal(409, 'duplicate', `Already Exists: Table ${tableId}`)
      const columns = schema.fields.map(({ name, type, mode = 'NULLABLE', precision, scale }) => {
        const known = type === 'NUMERIC' ? `decimal(${precision ?? 38}, ${scale ?? 9})` : duckTypes[type]
        if (known === undefined || !['NULLABLE', 'REQUIRED'].includes(mode)) throw new Refusal(400, 'invalid', type)
        return `${quoted(name)} ${known}${mode === 'REQUIRED' ? ' not null' : ''}`
      })
      await engine.run(`create table crm.${quoted(tableId)} (${columns.join(', ')})`)
      return describe(tableId)
    },
    async drop(tableId) {
      await fieldsOf(tableId)
      await engine.run(`drop table crm.${quoted(tableId)}`)
    },
    async load({ destinationTable, location: _, ...configuration }, lines) {
      const expected = {
        sourceFormat: 'NEWLINE_DELIMITED_JSON',
        createDisposition: 'CREATE_NEVER',
        writeDisposition: 'WRITE_APPEND',
        maxBadRecords: 0,
        encoding: 'UTF-8',
      }
      if (!isDeepStrictEqual(configuration, expected)) throw new Refusal(400, 'invalid', 'load')
      const { tableId } = destinationTable
      const fields = await fieldsOf(tableId)
      const errors: LoadError[] = []
      const rows: (string | null)[][] = []
      let position = 0
      for (const line of lines.split('\n')) {
        if (line !== '') {
          const row = readLine(line, fields)
          if (typeof row !== 'string') rows.push(row)
          else {
            const message = `Error while reading data, error message: JSON parsing error in row starting at position ${position}: ${row}`
            errors.push({ reason: 'invalid', message })
          }
        }
        position += Buffer.byteLength(line) + 1
      }
      if (errors.length > 0) {
        const message = `Error while reading data, error message: JSON table encountered too many errors, giving up. Rows: ${rows.length}; errors: ${errors.length}. Please look into the errors[] collection for more details.`
        return [{ reason: 'invalid', message }, ...errors.slice(0, 5)]
      }
      await engine.run('begin')
      try {
        const places = fields.map((_, at) => `$${at + 1}`).join(', ')
        for (const row of rows)
          await engine.run(`insert into crm.${quoted(tableId)} values (${places})`, row as string[])
        await engine.run('commit')
      } catch (error) {
        await engine.run('rollback')
        throw error
      }
      return []
    },
  }
}

const time = String.raw`([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?`
const forms: Readonly<Record<string, RegExp>> = {
  DATE: /^\d{4}-\d\d-\d\d$/,
  TIME: new RegExp(`^${time}$`),
  DATETIME: new RegExp(String.raw`^\d{4}-\d\d-\d\d[ T]${time}$`),
  TIMESTAMP: new RegExp(String.raw`^\d{4}-\d\d-\d\d[ T]${time}Z$`),
  BYTES: /^[A-Za-z0-9+/]*={0,2}$/,
}

/** The values of a line, as DuckDB takes them; why BigQuery cannot read it, otherwise, which quotes the value. */
function readLine(line: string, fields: readonly TableField[]): (string | null)[] | string {
  const row = JSON.parse(line) as Record<string, unknown>
  const strange = Object.keys(row).find((key) => !fields.some(({ name }) => name === key))
  if (strange !== undefined) return `No such field: ${strange}.`
  const values: (string | null)[] = []
  for (const field of fields) {
    const value = row[field.name] ?? null
    if (value === null && field.mode === 'REQUIRED') return `Missing required field: ${field.name}.`
    if (value !== null && !isValue(value, field)) {
      return `Could not convert value to ${field.type.toLowerCase()}. Field: ${field.name}; Value: ${value}`
    }
    values.push(value === null ? null : String(value))
  }
  return values
}

function isValue(value: unknown, { type, precision = '38', scale = '9' }: TableField): boolean {
  if (type === 'BOOLEAN') return typeof value === 'boolean'
  if (type === 'FLOAT') return typeof value === 'number'
  if (type === 'INTEGER' && Number.isSafeInteger(value)) return true
  if (typeof value !== 'string') return false
  if (type === 'INTEGER') return /^-?\d{1,19}$/.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value)
  if (type === 'NUMERIC') {
    const [, whole, fraction = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(value) ?? []
    return (
      whole !== undefined &&
      whole.length <= Number(precision) - Number(scale) + (whole === '0' ? 1 : 0) &&
      fraction.length <= Number(scale)
    )
  }
  if (/^(DATE|DATETIME|TIMESTAMP)$/.test(type) && !isCalendarDay(value.slice(0, 10))) return false
  return forms[type]?.test(value) ?? true
}

const isCalendarDay = (day: string): boolean => {
  const at = new Date(`${day}T00:00:00Z`)
  return day >= '0001-01-01' && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}
