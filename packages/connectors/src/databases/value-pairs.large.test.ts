import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Batch, Cell, Connector, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import fc from '../../../../test/harness/property.ts'
import { seed } from '../../../../test/harness/seed.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { stagingBucket, startRedshiftServer } from '../../test/redshift-server.ts'
import { batchOf, readAll, rowsOf } from '../../test/tables.ts'
import { localFolder } from '../local-folder/local-folder.ts'
import { mysql } from '../mysql/mysql.ts'
import { postgresql } from '../postgresql/postgresql.ts'
import { amazonRedshiftDestination } from '../redshift/amazon-redshift-destination.ts'
import { amazonRedshiftSource } from '../redshift/amazon-redshift-source.ts'

/**
 * Values that pass through a pair of stores: from a table into another store and back into a table of the same type. Each
 * arrives as it was or is rejected on the way; PENSTOCK_TEST_SEED tries other values.
 */
const rowsEach = 60

const server = await startPostgresql()
const mariadb = await startMariadb()
const redshift = await startRedshiftServer()
const folder = await mkdtemp(join(tmpdir(), 'penstock-pairs-'))
after(async () => {
  await rm(folder, { recursive: true, force: true })
  await Promise.all([server.close(), mariadb?.stop(), redshift.close()])
})

type Kind = {
  readonly postgresql: string
  readonly mariadb: string
  /** Absent if it is that of PostgreSQL. */
  readonly redshift?: string
  readonly values: fc.Arbitrary<string>
}

const digits = (max: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: max })
const text = fc
  .string({ unit: 'binary', maxLength: 12 })
  .filter((value) => !value.includes('\0') && value.isWellFormed())
const day = fc
  .date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((at) => at.toISOString().slice(0, 10))
const clock = fc
  .tuple(fc.nat(86_399), fc.nat(999_999))
  .map(([second, micro]) => `${new Date(second * 1000).toISOString().slice(11, 19)}.${String(micro).padStart(6, '0')}`)
const bytes = fc.uint8Array({ maxLength: 20 }).map((value) => `\\x${Buffer.from(value).toString('hex')}`)

const kinds: readonly Kind[] = [
  { postgresql: 'bigint', mariadb: 'bigint', values: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String) },
  { postgresql: 'integer', mariadb: 'int', values: fc.integer().map(String) },
  {
    postgresql: 'numeric(30,4)',
    mariadb: 'decimal(30,4)',
    values: fc.tuple(fc.constantFrom('', '-'), digits(20), digits(4)).map(([sign, a, b]) => `${sign}${a}.${b}`),
  },
  {
    postgresql: 'double precision',
    mariadb: 'double',
    values: fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value) => String(Object.is(value, -0) ? 0 : value)),
  },
  { postgresql: 'boolean', mariadb: 'boolean', values: fc.constantFrom('true', 'false') },
  { postgresql: 'text', mariadb: 'longtext', redshift: 'varchar(100)', values: text },
  { postgresql: 'bytea', mariadb: 'longblob', redshift: 'varbyte', values: bytes },
  { postgresql: 'date', mariadb: 'date', values: day },
  { postgresql: 'time', mariadb: 'time(6)', values: clock },
  { postgresql: 'timestamp', mariadb: 'datetime(6)', values: fc.tuple(day, clock).map((parts) => parts.join(' ')) },
  { postgresql: 'uuid', mariadb: 'char(36)', redshift: 'varchar(36)', values: fc.uuid() },
  // SUPER has numbers of its own, and takes a null of JSON for none.
  {
    postgresql: 'json',
    mariadb: 'json',
    redshift: 'varchar(65535)',
    values: fc.json().filter((value) => !value.includes('\\u0000')),
  },
  {
    postgresql: 'bigint[]',
    mariadb: 'longtext',
    redshift: 'varchar(65535)',
    values: fc.array(fc.bigInt(0n, 2n ** 62n)).map((all) => `{${all}}`),
  },
]

/** A store, and how a connection reads from it and writes to it. */
type Store = {
  readonly connector: Connector
  /** Writes to it, if another connector reads from it. */
  readonly writer?: Connector
  readonly secrets: Values
  readonly routes?: Readonly<Record<string, string>>
  readonly from: Values
  readonly to: Values
}

const table = (connector: Connector, secrets: Values, settings: Values): Store => ({
  connector,
  secrets,
  from: settings,
  to: settings,
})
const source = table(postgresql, server.secrets, { schema: 'crm', table: 'source' })
const target = table(postgresql, server.secrets, { schema: 'crm', table: 'target' })
const file = (fileFormat: string): Store => ({
  connector: localFolder,
  secrets: { folder },
  from: { files: 'value-*' },
  to: { fileFormat, prefix: 'value-' },
})
const warehouse: Store = {
  connector: amazonRedshiftSource,
  writer: amazonRedshiftDestination,
  secrets: redshift.secrets,
  routes: redshift.routes,
  from: { schema: 'crm', table: 'middle' },
  to: { schema: 'crm', table: 'middle', stagingPath: `s3://${stagingBucket}/` },
}
const middle = table(mysql, mariadb?.secrets ?? {}, { table: 'middle' })

async function read({ connector, secrets, from }: Store): Promise<Read> {
  const chunks = await readAll(connector, { secrets, settings: from, localFolders: [folder] })
  return { rows: rowsOf(chunks), types: chunks[0]?.types }
}

type Read = { readonly rows: readonly Row[]; readonly types: Batch['types'] }

let batches = 0
/** Writes rows to a store; resolves with the ids of the rejected rows. */
async function write(
  { connector, writer: writes = connector, secrets, routes, to }: Store,
  { rows, types }: Read,
): Promise<Set<Cell>> {
  const columns = ['id', 'value']
  const options = { secrets, settings: to, columns, localFolders: [folder] }
  const writer = await writes.destination?.deliver?.open(testContext({ ...options, ...(routes && { routes }) }))
  assert.ok(writer)
  try {
    const { rejected = [] } = await writer.deliver({ ...batchOf(columns, rows, ++batches), ...(types && { types }) })
    await writer.flush?.()
    await writer.finish?.()
    return new Set(rejected.map(({ index }) => rows[index ?? -1]?.[0] ?? null))
  } finally {
    await writer.close?.()
  }
}

/** The values of a PostgreSQL table as PostgreSQL prints them. */
const held = async (name: string, type: string) =>
  new Map(
    (
      await server.query<{ id: number; value: string | null }>(
        `select id, ${type === 'json' ? 'value::jsonb::text' : 'value::text'} as value from crm.${name} order by id`,
      )
    ).map(({ id, value }) => [id, value]),
  )

async function pass(kind: Kind, through: Store): Promise<void> {
  const type = kind.postgresql
  const columns = `(id int primary key, value ${type})`
  await server.query(`
    drop table if exists crm.source, crm.target;
    create table crm.source ${columns}; create table crm.target ${columns}`)
  const values = [null, ...fc.sample(kind.values, { seed, numRuns: rowsEach })]
  await server.query(
    `insert into crm.source select id, value::${type} from unnest($1::int[], $2::text[]) as t (id, value)`,
    [[...values.keys()], values],
  )
  const there = await write(through, await read(source))
  const back = await write(target, await read(through))
  const before = await held('source', type)
  const after = await held('target', type)
  assert.equal(after.size + there.size + back.size, before.size, 'each row arrives or is rejected')
  for (const [id, value] of after) {
    // A CSV file has one way to write both.
    const isNone = value === null && before.get(id) === ''
    if (!isNone) assert.deepEqual([id, value], [id, before.get(id)])
  }
  assert.deepEqual([[...there], [...back]], [[], []], 'what both stores can hold is taken')
}

for (const format of ['CSV', 'NDJSON', 'Parquet']) {
  describe(`values from PostgreSQL through ${format} to PostgreSQL`, () => {
    for (const kind of kinds) {
      test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
        await rm(folder, { recursive: true, force: true })
        await mkdir(folder)
        await pass(kind, file(format))
      })
    }
  })
}

describe('values from PostgreSQL through MariaDB to PostgreSQL', { skip: skipWithout('mariadbd') }, () => {
  for (const kind of kinds) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      await mariadb?.query(`drop table if exists penstock.middle, penstock.penstock_batches`)
      await mariadb?.query(
        `create table penstock.middle (id int primary key, value ${kind.mariadb}) character set utf8mb4`,
      )
      await pass(kind, middle)
    })
  }
})

describe('values from PostgreSQL through Redshift to PostgreSQL', () => {
  for (const kind of kinds) {
    test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
      await redshift.query('drop table if exists crm.middle, crm.penstock_batches')
      await redshift.query(`create table crm.middle (id int, value ${kind.redshift ?? kind.postgresql})`)
      await pass(kind, warehouse)
    })
  }
})
