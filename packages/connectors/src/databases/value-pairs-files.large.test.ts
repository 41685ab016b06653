import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { INTEGER, VARCHAR } from '@duckdb/node-api'
import { seed } from '../../../../test/harness/seed.ts'
import { avroBytes, avroLong, avroOf } from '../../../connector/test/avro-writer.ts'
import { duckdbFileBy } from '../../../connector/test/duckdb-file.ts'
import { workbookOf } from '../../../connector/test/zip.ts'
import { sheetsRoutes, spreadsheetId, startSheets } from '../../test/google-sheets-server.ts'
import { type Kind, kinds } from '../../test/value-kinds.ts'
import { openValuePairs, type Store } from '../../test/value-pairs.ts'
import { googleSheets } from '../google-sheets/google-sheets.ts'
import { localFolder } from '../local-folder/local-folder.ts'

/** Files that no connector writes, made of the values as other programs write them; and sheets, which are read and written. */

const pairs = await openValuePairs()
const sheets = await startSheets()
after(() => Promise.all([pairs.close(), sheets.close()]))

const file: Store = {
  connector: localFolder,
  secrets: { folder: pairs.folder },
  from: { files: 'value*' },
  to: {},
}

/** Days since 1970. */
const daysOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 86_400_000
/** Microseconds since midnight of a time with six decimal places. */
const microsOf = (time: string): bigint => {
  const [second = '', micros = ''] = time.split('.')
  return BigInt(Date.parse(`1970-01-01T${second}Z`)) * 1000n + BigInt(micros)
}
const microsOfDay = 86_400_000_000n

/** A number of any size as the bytes of a decimal: in two's complement, the highest first, no more than are needed. */
function bytesOfWhole(value: bigint): Buffer {
  let size = 1
  while (BigInt.asIntN(size * 8, value) !== value) size += 1
  const digits = BigInt.asUintN(size * 8, value)
    .toString(16)
    .padStart(size * 2, '0')
  return Buffer.from(digits, 'hex')
}

type AvroForm = { readonly schema: unknown; readonly bytes: (value: string) => Buffer }

const asText: AvroForm = { schema: 'string', bytes: avroBytes }
const avroForms: Readonly<Record<string, AvroForm>> = {
  bigint: { schema: 'long', bytes: (value) => avroLong(BigInt(value)) },
  integer: { schema: 'int', bytes: (value) => avroLong(BigInt(value)) },
  'numeric(30,4)': {
    schema: { type: 'bytes', logicalType: 'decimal', precision: 30, scale: 4 },
    bytes(value) {
      const [whole = '', fraction = ''] = value.split('.')
      return avroBytes(bytesOfWhole(BigInt(`${whole}${fraction.padEnd(4, '0')}`)))
    },
  },
  'double precision': {
    schema: 'double',
    bytes(value) {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(Number(value))
      return bytes
    },
  },
  boolean: { schema: 'boolean', bytes: (value) => Buffer.from([value === 'true' ? 1 : 0]) },
  bytea: { schema: 'bytes', bytes: (value) => avroBytes(Buffer.from(value.slice(2), 'hex')) },
  date: { schema: { type: 'int', logicalType: 'date' }, bytes: (value) => avroLong(daysOf(value)) },
  time: { schema: { type: 'long', logicalType: 'time-micros' }, bytes: (value) => avroLong(microsOf(value)) },
  timestamp: {
    schema: { type: 'long', logicalType: 'local-timestamp-micros' },
    bytes(value) {
      const [day = '', time = ''] = value.split(' ')
      return avroLong(BigInt(daysOf(day)) * microsOfDay + microsOf(time))
    },
  },
  uuid: {
    schema: { type: 'fixed', name: 'U', size: 16, logicalType: 'uuid' },
    bytes: (value) => Buffer.from(value.replaceAll('-', ''), 'hex'),
  },
  'bigint[]': {
    schema: { type: 'array', items: 'long' },
    bytes(value) {
      const items = value.slice(1, -1).split(',').filter(Boolean)
      const block = items.length === 0 ? [] : [avroLong(items.length), ...items.map((item) => avroLong(BigInt(item)))]
      return Buffer.concat([...block, avroLong(0)])
    },
  },
}

/** A file with an id and a value that may be missing in each row. */
function avroFileOf({ postgresql }: Kind, values: readonly (string | null)[]): Buffer {
  const { schema, bytes } = avroForms[postgresql] ?? asText
  const fields = [
    { name: 'id', type: 'int' },
    { name: 'value', type: ['null', schema] },
  ]
  const rows = values.flatMap((value, id) => [
    avroLong(id),
    ...(value === null ? [avroLong(0)] : [avroLong(1), bytes(value)]),
  ])
  return avroOf({ type: 'record', name: 'R', fields }, [[values.length, Buffer.concat(rows)]])
}

/** Types of DuckDB that are not called as those of PostgreSQL, and a value of each as DuckDB reads it. */
const duckdbForms: Readonly<Record<string, { readonly type: string; readonly value: string }>> = {
  bytea: { type: 'BLOB', value: 'unhex(substr($2, 3))' },
  'bigint[]': { type: 'BIGINT[]', value: "CAST(translate($2, '{}', '[]') AS BIGINT[])" },
}

/** A database of DuckDB with an id and a value in each row. */
const duckdbFileOf = ({ postgresql }: Kind, values: readonly (string | null)[]): Promise<Buffer> =>
  duckdbFileBy(async (connection) => {
    const { type, value } = duckdbForms[postgresql] ?? { type: postgresql, value: `CAST($2 AS ${postgresql})` }
    await connection.run(`CREATE TABLE "values" (id INTEGER, value ${type})`)
    const insert = `INSERT INTO "values" VALUES ($1, ${value})`
    for (const [id, text] of values.entries()) await connection.run(insert, [id, text], [INTEGER, VARCHAR])
  })

/** Characters that have codes in workbooks, because XML cannot hold them or changes them, and what looks like such a code. */
const coded = /[\p{Cc}\ufffe\uffff]|_(?=x[0-9a-f]{4}_)/giu
const inXml = (text: string): string =>
  text
    .replace(coded, (char) => `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

const textCell = (text: string) => `<c t="inlineStr"><is><t xml:space="preserve">${inXml(text)}</t></is></c>`
const numberCell = (written: string | number, style = 0) => `<c s="${style}"><v>${written}</v></c>`
/** The day that numbers of days count from, after the one that never was. */
const dayZero = daysOf('1899-12-30')
const dayCounts = (day: string): boolean => day >= '1900-03-01'
/** A time as a workbook keeps it. */
const toMillisecond = (value: string): string => value.slice(0, -3)

/** How programs write a value: what a number cannot hold is text. */
const workbookForms: Readonly<Record<string, (value: string) => string>> = {
  bigint: (value) => (Number.isSafeInteger(Number(value)) ? numberCell(value) : textCell(value)),
  integer: numberCell,
  'double precision': numberCell,
  boolean: (value) => `<c t="b"><v>${value === 'true' ? 1 : 0}</v></c>`,
  date: (value) => (dayCounts(value) ? numberCell(daysOf(value) - dayZero, 1) : textCell(value)),
  time: (value) => numberCell(Number(microsOf(value)) / Number(microsOfDay), 2),
  timestamp(value) {
    const [day = '', time = ''] = value.split(' ')
    return dayCounts(day)
      ? numberCell(daysOf(day) - dayZero + Number(microsOf(time)) / Number(microsOfDay), 3)
      : textCell(value)
  },
}
const formats = ['yyyy-mm-dd', 'hh:mm:ss.000', 'yyyy-mm-dd hh:mm:ss.000']

/** Values that a workbook can have: its times have milliseconds. */
const inWorkbooks = (kind: Kind): Kind =>
  kind.postgresql === 'time' || kind.postgresql === 'timestamp'
    ? { ...kind, values: kind.values.map((value) => `${toMillisecond(value)}000`) }
    : kind

function workbookFileOf({ postgresql }: Kind, values: readonly (string | null)[]): Buffer {
  const cellOf = workbookForms[postgresql] ?? textCell
  const rows = values.map((value, id) => `<row>${numberCell(id)}${value === null ? '' : cellOf(value)}</row>`)
  const header = `<row>${textCell('id')}${textCell('value')}</row>`
  return workbookOf({ sheets: { Values: header + rows.join('') }, formats })
}

describe('values from Avro to PostgreSQL', () => {
  for (const kind of kinds) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      await pairs.empty()
      await pairs.pass(kind, file, (values) => writeFile(join(pairs.folder, 'value.avro'), avroFileOf(kind, values)))
    })
  }
})

describe('values from DuckDB to PostgreSQL', () => {
  for (const kind of kinds) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      await pairs.empty()
      await pairs.pass(kind, file, async (values) =>
        writeFile(join(pairs.folder, 'value.duckdb'), await duckdbFileOf(kind, values)),
      )
    })
  }
})

describe('values from Excel workbooks to PostgreSQL', () => {
  // An empty text looks like no text, there and in sheets.
  const store = { ...file, hasNoEmptyText: true }
  for (const kind of kinds.map(inWorkbooks)) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      await pairs.empty()
      await pairs.pass(kind, store, (values) =>
        writeFile(join(pairs.folder, 'value.xlsx'), workbookFileOf(kind, values)),
      )
    })
  }
})

describe('values from PostgreSQL through Google Sheets to PostgreSQL', () => {
  const place = { spreadsheet: spreadsheetId, sheet: 'Values' }
  const store: Store = {
    connector: googleSheets,
    secrets: { authType: 'service-account', jsonKey: sheets.jsonKey },
    routes: sheetsRoutes(sheets.url),
    from: place,
    to: { ...place, writeMode: 'Append' },
    hasNoEmptyText: true,
  }
  for (const kind of kinds) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      sheets.reset('Values')
      await pairs.pass(kind, store)
    })
  }
})
