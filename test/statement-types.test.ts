import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { openSession } from '../packages/server/src/db/session.ts'
import { statements } from '../packages/server/src/db/statement.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import { compileWith, type Description, describeStatement, type Site } from './harness/statement-types.ts'

/** The types of parameters and rows that a statement declares are what PostgreSQL says of it. */

const sources = join(import.meta.dirname, '../packages/server/src')

type Made = { readonly statement: (typeof statements)[number]; readonly at: string }
const made: Made[] = []

// The stack shows where each statement is created: this function, `statement`, its caller.
statements.push = (...added) => {
  const [, , , caller = ''] = new Error().stack?.split('\n') ?? []
  made.push(...added.map((statement) => ({ statement, at: /file:[^()]*/.exec(caller)?.[0] ?? caller })))
  return Array.prototype.push.apply(statements, added)
}
// Whatever has a statement is reached from these.
await import('../packages/server/src/service.ts')
await import('../packages/server/src/worker/worker.ts')
await import('../packages/server/src/cli/program.ts')

let database: TestDatabase
let client: pg.Client
before(async () => {
  database = await createTestDatabase()
  client = await openSession(database.url, 'test')
})
after(async () => {
  await client.end()
  await database.drop()
})

/** The names of the parameters of a statement, in their order. */
const parametersOf = ({ sends }: Made['statement']) =>
  sends(new Proxy({} as never, { get: (_, name) => name })).values as string[]

/** Columns that can be null in their tables and not in these rows, which PostgreSQL cannot know. */
const neverNull: Readonly<Record<string, string>> = {
  'accounts/queries.ts deletedTime': 'the condition compares it',
  'connectors/queries.ts savedTime': 'the statement sets it',
  'transfers/supervisor/claim-queries.ts startedTime': 'the claim sets it, and this transfer is running',
}

async function describeSites(): Promise<Site[]> {
  const sites = new Map<string, Site & { descriptions: Description[] }>()
  for (const { statement, at } of made) {
    const [, url = '', line, column] = /^(.*):(\d+):(\d+)$/.exec(at) ?? []
    const file = relative(sources, fileURLToPath(url)).replaceAll('\\', '/')
    const site = sites.get(at) ?? { file, line: Number(line), column: Number(column), descriptions: [] }
    site.descriptions.push(await describeStatement(client, statement.text, parametersOf(statement)))
    sites.set(at, site)
  }
  return [...sites.values()]
}

test('every statement declares the parameters and the columns that PostgreSQL says it has', async () => {
  const sites = await describeSites()
  const calls = globSync('**/*.ts', { cwd: sources })
    .filter((file) => file !== join('db', 'statement.ts'))
    .flatMap((file) => readFileSync(join(sources, file), 'utf8').match(/(?<![.\w])statement[<(]/g) ?? [])
  assert.equal(sites.length, calls.length, 'every call in the sources is reached')
  const known = new Set<string>()
  const corrected = sites.map((site) => ({
    ...site,
    descriptions: site.descriptions.map(({ parameters, columns }) => ({
      parameters,
      columns: columns.map((column) => {
        const key = `${site.file} ${column.name}`
        if (!column.nullable || !(key in neverNull)) return column
        known.add(key)
        return { name: column.name, type: column.type }
      }),
    })),
  }))
  assert.deepEqual(await compileWith(sources, corrected), [])
  assert.deepEqual([...known].sort(), Object.keys(neverNull))
})

test('what is declared wrongly is found', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-declared-'))
  t.after(() => rm(directory, { recursive: true }))
  await mkdir(join(directory, 'db'))
  await writeFile(
    join(directory, 'db', 'statement.ts'),
    `export type StatementOptions = object
export type Statement<P, R> = { all(parameters: P): R[] }
export declare function statement<P, R>(sql: string, options?: StatementOptions): Statement<P, R>`,
  )
  const description: Description = {
    parameters: [
      { name: 'id', type: 'text' },
      { name: 'size', type: 'int8' },
    ],
    columns: [
      { name: 'id', type: 'text', nullable: false },
      { name: 'savedTime', type: 'timestamptz', nullable: true },
      { name: 'settings', type: 'jsonb' },
      { name: 'total', type: 'int8' },
    ],
  }
  const row = "{ id: 'a' | 'b'; savedTime: Date | null; settings: { a: string[] }; total: number | null }"
  const given = '{ id: string; size: number | null; like: string }'
  const calls: [parameters: string, row: string, ...typeErrors: string[]][] = [
    [given, row],
    [given, 'Record<never, never>'],
    [given, row.replace('savedTime', 'saved'), 'saved is not selected', 'savedTime is not declared'],
    [given, row.replace('Date | null', 'Date'), 'savedTime can be null'],
    [given, row.replace("'b'", 'null'), 'id is never null'],
    [given, row.replace('number', 'string'), 'total is of another type'],
    [given, row.replace('string[]', 'Date'), 'settings is of another type'],
    [given, row.replace('number | null', 'any'), 'total is any'],
    [given, row.replace('number | null', 'unknown'), 'total is unknown'],
    [given.replace('size', 'sise'), row, ':size is not given'],
    [given.replace('string', 'Date'), row, ':id is of another type'],
  ]
  const text = calls.map(([parameters, declared]) => `export const made = statement<${parameters}, ${declared}>('')`)
  const sites: Site[] = []
  for (const [i, line] of text.entries()) {
    const file = `case-${i}.ts`
    await writeFile(join(directory, file), `import { statement } from './db/statement.ts'\n${line}\n`)
    sites.push({ file, line: 2, column: line.indexOf('statement') + 1, descriptions: [description] })
  }
  const said = await compileWith(directory, sites)
  assert.deepEqual(
    calls.map((_, i) => {
      const about = said.filter((line) => line.includes(`case-${i}.ts`)).join('\n')
      return [...about.matchAll(/(?<=["'| ])"(:?\w+ (?:is|can) [\w ]+)"/g)].map(([, error]) => error).sort()
    }),
    calls.map(([, , ...typeErrors]) => typeErrors),
    said.join('\n'),
  )
})
