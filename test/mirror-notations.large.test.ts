import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type Chunk, type Connector, defineConnector, type Row, type Values } from '@penstock/connector'
import { createEgress } from '@penstock/connector/egress'
import { mysql } from '../packages/connectors/src/mysql/mysql.ts'
import { postgresql } from '../packages/connectors/src/postgresql/postgresql.ts'
import { startMariadb } from '../packages/connectors/test/mariadb.ts'
import { startPostgresql } from '../packages/connectors/test/postgresql.ts'
import { runJob } from '../packages/engine/src/jobs.ts'
import { skipWithout } from './harness/programs.ts'
import fc from './harness/property.ts'
import { Fuse, type Incident, places } from './modes/fuse.ts'
import { KeptState } from './modes/kept-state.ts'
import { about } from './modes/memory-sides.ts'

/**
 * Mirrors whose keys have several notations, some of which the database treats as the same key and others as different keys.
 * After any edits and kills, the destination has one row for each key of the source, with the values of the source, and the
 * rows of others.
 */

type Query = (sql: string) => Promise<Record<string, unknown>[]>
type Database = {
  readonly connector: Connector
  readonly secrets: Values
  readonly schema?: string
  readonly query: Query
}
/** A key column, and texts of which some are the same key to it. The first one is of a row of others at the beginning. */
type Column = { readonly name: string; readonly type: string; readonly texts: readonly string[] }

const columns = ['id', 'value']
const rowsMax = 2
/** A database notes batches under the identifiers of transfers. */
let transfers = 0

class World {
  readonly #database: Database
  readonly #kept: KeptState
  readonly #table: string
  /** The values of the source by the texts of the keys. */
  readonly source = new Map<string, number>()

  constructor(database: Database) {
    const { schema, connector, secrets } = database
    this.#database = database
    this.#table = schema === undefined ? 't' : `${schema}.t`
    const settings = { ...(schema !== undefined && { schema }), table: 't', writeMode: 'Upsert', keyColumns: 'id' }
    this.#kept = new KeptState({ ...settings, sendRows: 'Mirror' }, { slug: connector.slug, secrets })
  }

  get counts() {
    return this.#kept.counts
  }

  /** Makes the table again, with a row of others. */
  async begin({ type, texts }: Column): Promise<void> {
    const { query } = this.#database
    await query(`drop table if exists ${this.#table}`)
    await query(`create table ${this.#table} (id ${type} primary key, value int)`)
    await this.insert(texts[0] ?? '')
  }

  insert = (text: string) => this.#database.query(`insert into ${this.#table} values ('${text}', -1)`)
  /** The values of the rows that the database finds by a key. */
  async find(text: string): Promise<number[]> {
    const rows = await this.#database.query(`select value from ${this.#table} where id = '${text}'`)
    return rows.map(({ value }) => Number(value))
  }
  async count(): Promise<number> {
    return (await this.#database.query(`select value from ${this.#table}`)).length
  }

  async transfer(incidents: readonly (Incident | undefined)[]): Promise<void> {
    transfers += 1
    const id = transfers
    this.#kept.begin(String(id).padStart(16, '0'))
    for (const incident of incidents) {
      if (await this.#attempt(id, new Fuse(incident))) return this.#kept.end(true)
    }
    this.#kept.end(false)
  }

  async #attempt(id: number, fuse: Fuse): Promise<boolean> {
    const { connector } = this.#database
    const sides: Readonly<Record<string, Connector>> = { rows: this.#rows(fuse), [connector.slug]: connector }
    const egress = createEgress({ networkPolicy: 'any' })
    const result = await runJob(
      {
        kind: 'transfer',
        id: String(id).padStart(16, '0'),
        connectionId: '0f1e2d3c4b5a6979',
        connectors: [],
        retry: { firstMs: 0, mostMs: 0, totalMs: 10_000 },
        replaceShareMin: 0,
      },
      {
        runtime: {
          loadConnector: async (slug) => sides[slug] as Connector,
          egress,
          plainHttp: { loopback: false, allow: [] },
          localFolders: [],
        },
        host: this.#kept.host(fuse),
        signal: fuse.signal,
        onProgress: () => {},
      },
    )
    await egress.close()
    if (!result.ok) assert.equal(result.error.kind, 'ended', JSON.stringify(result.error))
    return result.ok
  }

  #rows(fuse: Fuse): Connector {
    const rows = [...this.source].map(([text, value]): Row => [text, value])
    return defineConnector({
      ...about,
      slug: 'rows',
      name: 'Rows',
      source: {
        open: async () => ({
          async *read(after): AsyncGenerator<Chunk> {
            for (let at = Number(after ?? 0); at < rows.length; at += rowsMax) {
              fuse.pass('read')
              const some = rows.slice(at, at + rowsMax)
              yield { columns, rows: some, bytes: 10, checkpoint: at + some.length }
            }
          },
          close: async () => {},
        }),
      },
    })
  }
}

type Step = { readonly edits: readonly [at: number, isThere: boolean][]; readonly incidents: readonly Incident[] }

const incidentOf = fc.record<Incident>({
  place: fc.constantFrom(...places, 'confirm', 'confirm', 'begin batch', 'doubted rows'),
  after: fc.constantFrom(0, 0, 1, 2, 3),
  kind: fc.constant('kill'),
})
const stepOf = fc.record<Step>({
  edits: fc.array(fc.tuple(fc.nat(9), fc.boolean()), { maxLength: 6, size: 'max' }),
  incidents: fc.array(incidentOf, { maxLength: 2, size: 'max' }),
})

function testColumn(database: Database, column: Column): void {
  const { texts } = column

  /** The texts that the database treats as the same key, each mapped to the first of them. */
  async function keysOf(): Promise<ReadonlyMap<string, string>> {
    const world = new World(database)
    const keys = new Map<string, string>()
    for (const text of texts) {
      await world.begin({ ...column, texts: [text] })
      for (const other of texts) if (!keys.has(other) && (await world.find(other)).length > 0) keys.set(other, text)
    }
    return keys
  }

  test(`${column.name}: a row goes when its key leaves the source, and not when it is written in another way`, async () => {
    const keys = await keysOf()
    let value = 0
    await fc.assert(
      fc.asyncProperty(fc.array(stepOf, { minLength: 2, maxLength: 6, size: 'max' }), async (steps) => {
        const world = new World(database)
        await world.begin(column)
        let isForeign = true
        const assertAsSource = async () => {
          const expected = Map.groupBy(world.source, ([text]) => keys.get(text))
          for (const key of new Set(keys.values())) {
            const found = await world.find(key)
            const wanted = (expected.get(key) ?? []).map(([, of]) => of)
            if (isForeign && key === keys.get(texts[0] ?? '')) assert.deepEqual(found, [-1])
            else if (wanted.length === 0) assert.deepEqual(found, [], `${key} left the source`)
            else
              assert.ok(
                found.length === 1 && wanted.includes(found[0] ?? 0),
                `${key} is ${found}, not one of ${wanted}`,
              )
          }
          assert.equal(await world.count(), expected.size + (isForeign ? 1 : 0))
        }
        for (const { edits, incidents } of steps) {
          for (const [at, isThere] of edits) {
            const text = texts[at % texts.length] ?? ''
            if (isThere) world.source.set(text, ++value)
            else world.source.delete(text)
          }
          if ([...world.source.keys()].some((text) => keys.get(text) === keys.get(texts[0] ?? ''))) isForeign = false
          await world.transfer([...incidents, undefined])
          assert.equal(world.counts.rejected, 0)
          await assertAsSource()
        }
        await world.transfer([undefined])
        await assertAsSource()
        assert.equal(world.counts.sent, 0, 'nothing is sent again')
      }),
      { numRuns: Number(process.env.PENSTOCK_TEST_MODEL_RUNS ?? 12) },
    )
  })
}

const words = ['foreign', 'Ada', 'ada', 'ADA', 'Straße', 'strasse', 'é', 'e', 'E ', 'e']
const numbers = ['9', '7', '07', '7.0', '8', '+8']
const whole = ['9', '7', '07', '8', '+8', '008']

const postgres = await startPostgresql()
after(() => postgres.close())
describe(`keys of a mirror in PostgreSQL ${postgres.version}`, async () => {
  const database = { connector: postgresql, secrets: postgres.secrets, schema: 'crm', query: postgres.query }
  const accentless = `create collation crm.accentless (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`
  await postgres.query(accentless)
  const kinds: Column[] = [
    { name: 'text', type: 'text', texts: words },
    { name: 'text without case and accents', type: 'text collate crm.accentless', texts: words },
    { name: 'whole numbers', type: 'int', texts: whole },
    { name: 'decimals', type: 'numeric(6, 2)', texts: numbers },
    {
      name: 'times',
      type: 'timestamptz',
      texts: [
        '2025-01-01T00:00:00Z',
        '2026-01-01T00:00:00Z',
        '2026-01-01 00:00:00+00',
        '2026-01-01T01:00:00+01:00',
        '2026-01-02T00:00:00Z',
      ],
    },
    {
      name: 'identifiers',
      type: 'uuid',
      texts: ['9', 'a', 'A', 'b', 'B'].map((end) => `00000000-0000-0000-0000-00000000000${end}`),
    },
  ]
  for (const kind of kinds) testColumn(database, kind)
})

const mariadb = await startMariadb()
after(() => mariadb?.stop())
if (!mariadb) test('keys of a mirror in MariaDB', { skip: skipWithout('mariadbd') }, () => {})
else
  describe(`keys of a mirror in MariaDB ${mariadb.version}`, () => {
    const { secrets, query } = mariadb
    const text = (collation: string): Column => ({
      name: collation,
      type: `varchar(20) character set utf8mb4 collate ${collation}`,
      texts: words,
    })
    const kinds: Column[] = [
      text('utf8mb4_general_ci'),
      text('utf8mb4_unicode_ci'),
      text('utf8mb4_bin'),
      { name: 'whole numbers', type: 'bigint', texts: [...whole, '9007199254740992', '9007199254740993'] },
      { name: 'decimals', type: 'decimal(6, 2)', texts: numbers },
      {
        name: 'times',
        type: 'datetime',
        texts: ['2025-01-01', '2026-01-01', '2026-01-01 00:00:00', '2026-01-01T00:00:00', '2026-01-02'],
      },
    ]
    for (const kind of kinds) testColumn({ connector: mysql, secrets, query }, kind)
  })
