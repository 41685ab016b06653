import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Batch, Cell, Connector, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import fc from '../../../test/harness/property.ts'
import { seed } from '../../../test/harness/seed.ts'
import { postgresql } from '../src/postgresql/postgresql.ts'
import { startPostgresql } from './postgresql.ts'
import { batchOf, readAll, rowsOf } from './tables.ts'
import type { Kind } from './value-kinds.ts'

/**
 * Values that pass through a pair of stores: from a table into another store and back into a table of the same type. Each
 * arrives as it was or is rejected on the way; PENSTOCK_TEST_SEED tries other values.
 */
const rowsEach = 60

/** A store, and how a connection reads from it and writes to it. */
export type Store = {
  readonly connector: Connector
  /** Writes to it, if another connector reads from it. */
  readonly writer?: Connector
  readonly secrets: Values
  readonly routes?: Readonly<Record<string, string>>
  readonly from: Values
  readonly to: Values
  /** Whether it cannot hold a value, as PostgreSQL prints it, so that the row is rejected; it holds all unless given. */
  readonly refuses?: (value: string) => boolean
  /** Whether an empty text and no text are the same in it, as in a CSV file. */
  readonly hasNoEmptyText?: boolean
}

/** Puts values into a store in the place of a connector; a null is no value. Rows have ids from 0 on. */
export type Fill = (values: readonly (string | null)[]) => unknown

/** Rows of an id and a value, as they are read from a store. */
type Read = { readonly rows: readonly Row[]; readonly types: Batch['types'] }

export type ValuePairs = Awaited<ReturnType<typeof openValuePairs>>

/** Opens the database whose values pass through other stores, and a folder for files. */
export async function openValuePairs() {
  const server = await startPostgresql()
  const folder = await mkdtemp(join(tmpdir(), 'penstock-pairs-'))
  const table = (name: string): Store => {
    const settings = { schema: 'crm', table: name }
    return { connector: postgresql, secrets: server.secrets, from: settings, to: settings }
  }
  const [source, target] = [table('source'), table('target')]

  async function read({ connector, secrets, routes, from }: Store): Promise<Read> {
    const options = { secrets, settings: from, localFolders: [folder] }
    const chunks = await readAll(connector, routes ? { ...options, routes } : options)
    assert.deepEqual(
      chunks.flatMap(({ errors }) => [...(errors ?? [])]),
      [],
    )
    return { rows: rowsOf(chunks), types: chunks[0]?.types }
  }

  let batches = 0
  /** Writes rows to a store; resolves with the ids of the rejected rows. */
  async function write(
    { connector, writer: writes = connector, secrets, routes, to }: Store,
    { rows, types }: Read,
  ): Promise<Cell[]> {
    const columns = ['id', 'value']
    const options = { secrets, settings: to, columns, localFolders: [folder], transferId: `transfer-${++batches}` }
    const writer = await writes.destination?.deliver?.open(testContext(routes ? { ...options, routes } : options))
    assert.ok(writer)
    try {
      const { rejected = [] } = await writer.deliver({ ...batchOf(columns, rows, batches), ...(types && { types }) })
      await writer.flush?.()
      await writer.finish?.()
      for (const { reason } of rejected) assert.match(reason, /\S{2,}.*\.$/, 'a reason is a sentence')
      return rejected.map(({ index }) => rows[index ?? -1]?.[0] ?? null)
    } finally {
      await writer.close?.()
    }
  }

  /** The values of a table as PostgreSQL prints them. */
  const held = async (name: string, type: string) =>
    new Map(
      (
        await server.query<{ id: number; value: string | null }>(
          `select id, ${type === 'json' ? 'value::jsonb::text' : 'value::text'} as value from crm.${name} order by id`,
        )
      ).map(({ id, value }) => [id, value]),
    )

  return {
    folder,
    /** Removes the files of the folder. */
    async empty(): Promise<void> {
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder)
    },
    /**
     * Has values of a type pass through a store, and compares them.
     * @param fill puts them into the store, if it is a source alone
     */
    async pass({ postgresql: type, values: arbitrary }: Kind, through: Store, fill?: Fill): Promise<void> {
      const columns = `(id int primary key, value ${type})`
      await server.query(`
        drop table if exists crm.source, crm.target;
        create table crm.source ${columns}; create table crm.target ${columns}`)
      const values = [null, ...fc.sample(arbitrary, { seed, numRuns: rowsEach })]
      await server.query(
        `insert into crm.source select id, value::${type} from unnest($1::int[], $2::text[]) as t (id, value)`,
        [[...values.keys()], values],
      )
      const before = await held('source', type)
      const isRefused = (value: string | null) => value !== null && through.refuses?.(value) === true
      const expected = [...before].flatMap(([id, value]) => (isRefused(value) ? [id] : []))
      let there: Cell[] = []
      if (fill) await fill(values)
      else there = await write(through, await read(source))
      const back = await write(target, await read(through))
      const after = await held('target', type)
      assert.equal(after.size + there.length + back.length, before.size, 'each row arrives or is rejected')
      for (const [id, value] of after) {
        const isNone = through.hasNoEmptyText === true && value === null && before.get(id) === ''
        if (!isNone) assert.deepEqual([id, value], [id, before.get(id)])
      }
      assert.deepEqual(
        [there.map(Number).sort((a, b) => a - b), back],
        [expected, []],
        'what both stores can hold is taken',
      )
    },
    async close(): Promise<void> {
      await rm(folder, { recursive: true, force: true })
      await server.close()
    },
  }
}
