/**
 * `npm run schema` writes packages/server/schema.sql: the database as the migrations make it, in one file to read. The
 * statements come from the catalog of a migrated PostgreSQL. The comments and the order of the file are written by hand,
 * and kept: what is above a table, a column, an index, a function or a trigger stays above it.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'

export const schemaFile = fileURLToPath(new URL('../packages/server/schema.sql', import.meta.url))

/** A statement, or a line of `create table`: what it makes, and its text. */
type Part = { readonly key: string; readonly text: string }
type Statement = Part & { readonly parts: readonly Part[] }

const kinds = ['extension', 'table', 'index', 'function', 'trigger'] as const
type Kind = (typeof kinds)[number]

/** What belongs to an extension, or to a constraint or a trigger that PostgreSQL made itself, is no statement of its own. */
const catalog = `
  select kind, of, name, text, column_name from (
    select 'extension' as kind, '' as of, extname::text as name, '' as column_name, 0 as number,
      format('create extension %s', extname) as text
    from pg_extension where extname <> 'plpgsql'
    union all
    select 'table', '', c.relname, a.attname, a.attnum,
      concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attgenerated <> '' then format('generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid, true)) end,
        case when a.attgenerated = '' then 'default ' || pg_get_expr(d.adbin, d.adrelid, true) end,
        case when a.attnotnull then 'not null' end)
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    union all
    select 'table', '', conrelid::regclass::text, format('constraint %s', conname),
      1000 + array_position(array['p', 'u', 'c', 'f'], contype::text),
      format('constraint %s %s', conname, pg_get_constraintdef(oid, true))
    from pg_constraint where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'c', 'f')
    union all
    select 'index', indrelid::regclass::text, indexrelid::regclass::text, '', 0, pg_get_indexdef(indexrelid, 0, true)
    from pg_index
    where indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
    union all
    select 'function', '', proname, '', 0, pg_get_functiondef(oid)
    from pg_proc p
    where pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
    union all
    select 'trigger', tgfoid::regproc::text, tgname, '', 0, pg_get_triggerdef(oid, true)
    from pg_trigger
    where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
  ) parts
  order by kind, of, name, number, column_name`

type Found = { kind: Kind; of: string; name: string; column_name: string; text: string }

/**
 * Describes the schema `public` of a database.
 * @param before the file as it was: its comments and its order are kept, what is new comes last
 * @returns the file, which makes the same schema in an empty database
 */
export async function describeSchema(session: pg.ClientBase, before = ''): Promise<string> {
  const { rows } = await session.query<Found>(catalog)
  const { comments, order } = readComments(before)
  const place = ({ key }: Part) => order.get(key) ?? order.size
  const statements = (kind: Kind, of?: string): Statement[] =>
    [...Map.groupBy(rows, (row) => (row.kind === kind && (of === undefined || row.of === of) ? row.name : undefined))]
      .flatMap(([name, found]) => (name === undefined ? [] : [kind === 'table' ? tableOf(name, found) : oneOf(found)]))
      .toSorted((a, b) => place(a) - place(b))
  const sections = [
    statements('extension').map((one) => [one]),
    statements('table').map((table) => [table, ...statements('index', nameOf(table))]),
    statements('function').map((made) => [made, ...statements('trigger', nameOf(made))]),
  ]
  const commented = ({ key, text }: Part) => [...(comments.get(key) ?? []), text].join('\n')
  const print = ({ parts, ...whole }: Statement) =>
    parts.length === 0
      ? commented(whole)
      : [commented(whole), parts.map((part) => indent(commented(part))).join(',\n'), ');'].join('\n')
  const blocks = sections.flat().map((group) => group.map(print).join('\n'))
  return `${blocks.join('\n\n')}\n`
}

const nameOf = ({ key }: Part) => key.slice(key.indexOf(' ') + 1)
const indent = (text: string) => text.replace(/^(?=.)/gm, '  ')

function tableOf(name: string, found: readonly Found[]): Statement {
  const parts = found.map(({ column_name, text }) => ({ key: `${name}.${column_name}`, text: readable(text) }))
  return { key: `table ${name}`, text: `create table ${name} (`, parts }
}

function oneOf([found]: readonly Found[]): Statement {
  const { kind, name, text } = found as Found
  const made = kind === 'function' ? readableFunction(text) : `${readable(text)};`
  return { key: `${kind} ${name}`, text: made, parts: [] }
}

/** The same statement in our form: keywords in small letters, short names, no defaults; long lines are broken. */
function readable(text: string): string {
  const plain = text
    .replace(/'(?:[^']|'')*'|[^']+/g, (part) => (part.startsWith("'") ? part : part.toLowerCase().replace(/\s+/g, ' ')))
    .replaceAll('timestamp with time zone', 'timestamptz')
    .replaceAll(' using btree', '')
    .replaceAll('( ', '(')
    .replaceAll('public.', '')
    .replace(/= any \(array\[([^\]]*)\]\)/g, 'in ($1)')
    .replace(/<> all \(array\[([^\]]*)\]\)/g, 'not in ($1)')
    .replace(/('(?:[^']|'')*')::text/g, '$1')
  return breaks.reduce(breakLines, plain)
}

/** Where a line that is too long is broken, until it is not. */
const breaks = [/ (?=(?:include|where|for each|references) )/g, / (?=(?:execute|returns) )/g, / (?=(?:when|else|or) )/g]

const breakLines = (text: string, at: RegExp) =>
  text.replace(/.+/g, (line) => (line.length <= lengthMax ? line : line.replace(at, '\n  ')))
const lengthMax = 118

/** A function as PostgreSQL gives it: its body is left as it was written. */
function readableFunction(text: string): string {
  const [head = '', body = ''] = text.split('$function$')
  return `${readable(`${head.replace('CREATE OR REPLACE', 'create')}$$`)}${body}$$;`
}

/** Which comments stand above what, and in which order tables, functions and the like come. */
function readComments(file: string): { comments: Map<string, string[]>; order: Map<string, number> } {
  const comments = new Map<string, string[]>()
  const order = new Map<string, number>()
  let above: string[] = []
  let table: string | undefined
  let inBody = false
  for (const line of file.split('\n')) {
    const text = line.trim()
    if (inBody) {
      inBody = !text.endsWith('$$;')
      continue
    }
    if (text.startsWith('--') || (text === '' && above.length > 0)) {
      above.push(text)
      continue
    }
    const [, kind, name = ''] =
      /^create (?:unique |constraint )?(extension|table|index|function|trigger) (\w+)/.exec(text) ?? []
    const key = kind ? `${kind} ${name}` : table && `${table}.${/^constraint \w+|^\w+/.exec(text)?.[0]}`
    if (kind) order.set(`${kind} ${name}`, order.size)
    if (kind === 'table') table = name
    if (text === ');') table = undefined
    inBody = text.includes('$$') && !text.endsWith('$$;')
    if (key && above.length > 0) comments.set(key, above)
    above = []
  }
  return { comments, order }
}

if (import.meta.main) {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-schema-'))
  // The user who runs PostgreSQL must be able to pass through.
  await chmod(directory, 0o711)
  const server = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), durable: false })
  try {
    await migrate(server.url)
    const session = await openSession(server.url, 'schema')
    try {
      await writeFile(schemaFile, await describeSchema(session, await readFile(schemaFile, 'utf8')))
    } finally {
      await session.end()
    }
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
