import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { assertAccounted } from './harness/accounting.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'

/**
 * Rows of a table that pass as they came, and the same rows as values, because a query has no primary key. The same rows must arrive, and
 * the same rows must be rejected.
 */

const rows = 3_000
const fixture: Fixture = await startFixture()
await fixture.startWorker()
after(() => fixture.close())
const { target, caller, accountId } = fixture

const columns = `id int primary key, name text, mail text, note varchar(20), amount numeric(12, 2), tags text[], mood mood, document jsonb,
  born date, seen timestamptz, code code, bytes bytea, twice numeric generated always as (amount * 2) stored`

await target.query(`create type mood as enum ('happy', 'so so'); create domain code as text check (value <> 'bad')`)
await target.query(`create table people (${columns})`)
await target.query(`
  insert into people (id, mail, name, note, amount, tags, mood, document, born, seen, code, bytes)
  select i, case when i % 500 = 9 then 'none' else 'Person.' || i || '@Example.com' end, (array[null, '', e'tab\\tand\\\\backslash', e'two\\nlines\\r', '\\N', '\\.', 'Zoë 𝒳', repeat('x', 300)])[1 + i % 8],
         'note ' || i, i - 3, case when i % 5 = 0 then null else array['a', null, 'b"c', i::text] end,
         (array['happy', 'so so', null]::mood[])[1 + i % 3], jsonb_build_object('n', i), date '2000-01-01' + i,
         timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second', case when i % 97 = 0 then 'fine' else 'ok' end,
         decode(lpad(to_hex(i), 8, '0'), 'hex')
    from generate_series(1, ${rows}) as i`)
await target.query(`update people set name = repeat('huge ', 400000) where id = 1234`)
await target.query('analyze people')
// Only types that pass in the binary format, and what makes the table seem large enough for it.
const plainColumns = `id int primary key, name text, code varchar(20), amount numeric(20, 4), big bigint, small smallint, share double precision,
  active boolean, born date, seen timestamptz, noted timestamp, document jsonb, bytes bytea, uid uuid`
await target.query(`create table plain (${plainColumns})`)
await target.query(`
  insert into plain
  select i, (array[null, '', e'tab\t', e'two\nlines', 'Zoë 𝒳', repeat('x', 300)])[1 + i % 6], 'code ' || i, (i - 3) / 7.0, i * 10000000000,
         i, i / 3.0, i % 2 = 0, date '2000-01-01' + i, timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second',
         timestamp '2026-01-01' - i * interval '1 millisecond', jsonb_build_object('n', i), decode(lpad(to_hex(i), 8, '0'), 'hex'), gen_random_uuid()
    from generate_series(1, ${rows}) as i`)
await target.query("analyze plain; update pg_class set reltuples = 20000 where oid = 'plain'::regclass")

/** Tables with the rules that some of the rows break. */
const destinations: Readonly<
  Record<
    string,
    { from?: 'plain'; create: (name: string) => string; settings?: Record<string, string>; rejected: number }
  >
> = {
  'binary: the same columns': {
    from: 'plain',
    create: (name) => `create table ${name} (${plainColumns})`,
    rejected: 0,
  },
  'binary: columns in another order, and a few rows that a check and a key refuse': {
    from: 'plain',
    create: (name) => `
      create table ${name} (uid uuid, bytes bytea, document jsonb, noted timestamp, seen timestamptz, born date check (born <> '2001-01-01'),
        active boolean, share double precision, small smallint, big bigint, amount numeric(20, 4) check (amount >= 0), code varchar(20) unique,
        name text, id int);
      insert into ${name} (id, code) values (0, 'code 500')`,
    rejected: 4,
  },
  'binary: an upsert of fewer columns under other names, with a filter': {
    from: 'plain',
    create: (name) => `create table ${name} (worth numeric(20, 4), id int primary key, again numeric(20, 4))`,
    settings: {
      mapping: JSON.stringify({ id: 'id', worth: 'amount', again: 'amount' }),
      filter: 'small % 3 == 0 && number(json(document, "n")) > 10',
      writeMode: 'Upsert',
      keyColumns: 'id',
    },
    rejected: 0,
  },
  'binary: another type, which gets text': {
    from: 'plain',
    create: (name) => `create table ${name} (${plainColumns.replace('born date', 'born text')})`,
    rejected: 0,
  },
  'the same columns': {
    create: (name) => `create table ${name} (${columns.replaceAll('generated always as (amount * 2) stored', '')})`,
    rejected: 0,
  },
  'columns in another order, and rows that a check, a key, a type and a domain refuse': {
    create: (name) => `
        create table ${name} (twice numeric, seen timestamptz(0), born date, document json, mood text, tags text[], bytes bytea,
          amount numeric(12, 2) check (amount >= 0), note varchar(8) unique, code code check (code <> 'fine' or id > 500),
          mail text, name text check (name is distinct from e'two\\nlines\\r' or id <> 3), id bigint);
        insert into ${name} (id, note) values (0, 'note 500')`,
    rejected: 2_010,
  },
  'a few rows that a check, a key and a type refuse': {
    create: (name) => `
      create table ${name} (id int, name text, mail text, note varchar(9), amount numeric(12, 2) check (amount >= 0 and id <> 77), tags text[],
        mood mood, document jsonb, born date check (born <> '2001-01-01'), seen timestamptz, code code, bytes bytea, twice numeric);
      create unique index on ${name} (note);
      insert into ${name} (id, note) values (0, 'note 500')`,
    rejected: 5,
  },
  'a filter, which has no value for some rows': {
    create: (name) => `create table ${name} (${columns.replace('generated always as (amount * 2) stored', '')})`,
    settings: { filter: 'id % 3 == 0 && 100 / (id - 30) < 50' },
    rejected: 1,
  },
  'a filter, and an upsert with rows that a check refuses': {
    create: (name) => `
      create table ${name} (${columns.replace('generated always as (amount * 2) stored', 'check (id % 400 <> 5)')})`,
    settings: { filter: 'note.endsWith("5")', writeMode: 'Upsert', keyColumns: 'id' },
    rejected: 8,
  },
  'columns that are renamed, in another order, hashed, computed and constant': {
    create: (name) => `
      create table ${name} (full_name text, again text, id bigint, hashed text, sum text, mailed text, tags text[], origin text, seen timestamptz,
        document text, born date check (born <> '2001-01-01'))`,
    settings: {
      mapping: JSON.stringify({
        full_name: 'name',
        again: 'name',
        id: 'id',
        hashed: { expression: 'sha256(note)' },
        sum: { expression: '100 / (id - 30)' },
        mailed: { column: 'mail', normalise: 'email', hash: 'sha256' },
        tags: 'tags',
        origin: { value: 'here\tthere' },
        seen: 'seen',
        document: 'document',
        born: 'born',
      }),
      filter: 'id < 2000',
    },
    rejected: 6,
  },
  'fewer columns in another order': {
    create: (name) => `create table ${name} (seen timestamptz, name text, id int, primary key (id))`,
    settings: {
      mapping: JSON.stringify({ seen: 'seen', name: 'name', id: 'id' }),
      writeMode: 'Upsert',
      keyColumns: 'id',
    },
    rejected: 0,
  },
  'an upsert by the key': {
    create: (name) => `
        create table ${name} (${columns.replace('generated always as (amount * 2) stored', '').replace('varchar(20)', 'varchar(9)')});
        insert into ${name} (id, name) select i, 'old' from generate_series(1, 100) as i`,
    settings: { writeMode: 'Upsert', keyColumns: 'id' },
    rejected: 0,
  },
  'a trigger that leaves rows out': {
    create: (name) => `
        create table ${name} (${columns.replace('generated always as (amount * 2) stored', '')});
        create function leave_out_${name}() returns trigger language plpgsql as
          $$ begin if new.id % 1000 = 1 then return null; end if; return new; end $$;
        create trigger leave_out before insert on ${name} for each row execute function leave_out_${name}()`,
    rejected: 3,
  },
}

async function moved(source: Record<string, string>, table: string, settings: Record<string, string> = {}) {
  const id = await fixture.connect(postgresql, source, postgresql, { table, writeMode: 'Insert', ...settings })
  const { id: transferId } = await fixture.start(id)
  const transfer = await fixture.ended(id, transferId)
  const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId, query: { size: 500 } }))
  assert.equal(transfer.error, null, JSON.stringify(rejects[0]))
  await assertAccounted(fixture, transfer)
  const { rows: held } = await target.query(`select md5(t::text) as digest from ${table} as t order by id`)
  return {
    status: transfer.status,
    records: transfer.records,
    rejects: rejects.map(({ row, field, reason, record }) => ({
      row,
      field,
      reason: reason.replaceAll(table, 't'),
      record,
    })),
    held: held.map(({ digest }) => digest),
  }
}

describe('raw rows', () => {
  for (const [name, { from = 'people', create, settings, rejected }] of Object.entries(destinations)) {
    test(`${name}: what arrives, and what is rejected, is the same as of values`, async () => {
      await target.query('drop table if exists as_bytes, as_values')
      await target.query(create('as_bytes'))
      await target.query(create('as_values'))
      const bytes = await moved({ table: from }, 'as_bytes', settings)
      const query = { dataSourceType: 'SQL Query', sqlQuery: `select * from ${from}`, keyColumns: 'id' }
      const values = await moved(query, 'as_values', settings)
      assert.deepEqual(bytes, values)
      assert.equal(bytes.records.rejected, rejected)
    })
  }
})
