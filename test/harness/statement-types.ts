import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type pg from 'pg'

/**
 * Compares the types that statements declare with what PostgreSQL says of them. The compiler does it, in a copy of the
 * sources: each call of `statement` is renamed, and declared so that its first argument fits only the right types.
 */

const root = dirname(dirname(import.meta.dirname))

/** A column of a result, or a parameter. */
export type Described = {
  /** Name of a parameter as in the SQL, or of a column in camel case. */
  readonly name: string
  /** As PostgreSQL calls it: `int4`, `_text` … */
  readonly type: string
  /** Of a column: whether it can be null, where PostgreSQL knows. */
  readonly nullable?: boolean
}

export type Description = { readonly parameters: readonly Described[]; readonly columns: readonly Described[] }

type Field = { name: string; tableID: number; columnID: number; dataTypeID: number }

/** Has the server parse and describe a statement, without running it. */
class Describe implements pg.Submittable {
  readonly #text: string
  readonly #settle = Promise.withResolvers<{ parameters: readonly number[]; fields: readonly Field[] }>()
  readonly described = this.#settle.promise
  #parameters: readonly number[] = []
  #fields: readonly Field[] = []

  constructor(text: string) {
    this.#text = text
  }

  submit(connection: pg.Connection): void {
    connection.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
      this.#parameters = dataTypeIDs
    })
    connection.parse({ name: '', text: this.#text, types: [] }, true)
    connection.describe({ type: 'S' }, true)
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#fields = fields
  }

  handleReadyForQuery(): void {
    this.#settle.resolve({ parameters: this.#parameters, fields: this.#fields })
  }

  handleError(error: Error): void {
    this.#settle.reject(error)
  }
}

/**
 * PostgreSQL's description of a statement.
 * @param names of its parameters, in the order of their numbers
 */
export async function describeStatement(
  client: pg.Client,
  text: string,
  names: readonly string[],
): Promise<Description> {
  const describe = new Describe(text)
  client.query(describe)
  const { parameters, fields } = await describe.described
  const types = await client.query<{ oid: number; typname: string }>(
    'select oid, typname from pg_type where oid = any($1)',
    [[...parameters, ...fields.map(({ dataTypeID }) => dataTypeID)]],
  )
  const nameOfType = (oid: number) => types.rows.find((type) => type.oid === oid)?.typname ?? ''
  const stored = await client.query<{ attrelid: number; attnum: number; attnotnull: boolean }>(
    `select attrelid, attnum, attnotnull from pg_attribute where (attrelid, attnum) in (select * from unnest($1::oid[], $2::int2[]))`,
    [fields.map(({ tableID }) => tableID), fields.map(({ columnID }) => columnID)],
  )
  const missing = /\bjoin\b/i.test(text) ? await columnsOfOuterJoins(client, text, names.length) : []
  return {
    parameters: names.map((name, i) => ({ name, type: nameOfType(parameters[i] ?? 0) })),
    columns: fields.map(({ name, tableID, columnID, dataTypeID }, i) => {
      const column = stored.rows.find(({ attrelid, attnum }) => attrelid === tableID && attnum === columnID)
      return {
        name: name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        type: nameOfType(dataTypeID),
        ...(column && { nullable: !column.attnotnull || missing.includes(i) }),
      }
    }),
  }
}

type PlanNode = {
  'Join Type'?: string
  'Parent Relationship'?: string
  Output?: string[]
  Plans?: PlanNode[]
}

/** The columns of the result that come from a side of an outer join that may have no row. */
async function columnsOfOuterJoins(client: pg.Client, text: string, parameters: number): Promise<number[]> {
  await client.query(`set plan_cache_mode = force_generic_plan; prepare described as ${text}`)
  const given = parameters > 0 ? `(${Array(parameters).fill('null').join(', ')})` : ''
  const { rows } = await client.query(`explain (verbose, format json) execute described${given}`)
  await client.query('deallocate described')
  const top: PlanNode = rows[0]['QUERY PLAN'][0].Plan
  const absent = new Set<string>()
  const walk = (node: PlanNode) => {
    const without = { Left: ['Inner'], Right: ['Outer'], Full: ['Inner', 'Outer'] }[node['Join Type'] ?? ''] ?? []
    for (const below of node.Plans ?? []) {
      if (without.includes(below['Parent Relationship'] ?? '')) for (const one of below.Output ?? []) absent.add(one)
      walk(below)
    }
  }
  walk(top)
  return (top.Output ?? []).flatMap((output, i) => (absent.has(output) ? [i] : []))
}

/** A place in the sources where statements are made, and what PostgreSQL says of each. */
export type Site = {
  /** Below `directory`. */
  readonly file: string
  readonly line: number
  /** The column in which the name `statement` begins, counted from 1. */
  readonly column: number
  readonly descriptions: readonly Description[]
}

/** The types that the driver returns for a type of PostgreSQL, and the types that it accepts for one. */
const readAs: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  name: 'string',
  numeric: 'string',
  uuid: 'string',
  void: 'string',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float4: 'number',
  float8: 'number',
  bool: 'boolean',
  timestamptz: 'Date',
  date: 'Date',
  bytea: 'Buffer',
  json: 'CheckedJson',
  jsonb: 'CheckedJson',
  _text: 'string[]',
  _int4: 'number[]',
}
const takenFor: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  json: 'string',
  jsonb: 'string',
  date: 'string',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float8: 'number',
  bool: 'boolean',
  timestamptz: 'Date',
  bytea: 'Buffer',
  _text: 'readonly (string | null)[]',
  _uuid: 'readonly string[]',
  _bytea: 'readonly Buffer[]',
  _bool: 'readonly boolean[]',
  _json: 'readonly string[]',
  _int4: 'readonly (number | null)[]',
  _float8: 'readonly (number | null)[]',
  _int8: 'readonly (number | null)[]',
}

/** Suffix of a copy of a file that creates statements. */
const helpers = `
type CheckedJson = null | string | number | boolean | readonly CheckedJson[] | { readonly [key: string]: CheckedJson | undefined }
type CheckedBase<Of, Nullable> = { of: Of; nullable: Nullable }
type CheckedIsAny<T> = 0 extends 1 & T ? true : false
type CheckedColumnError<Name extends string, Declared, Column> =
  Column extends CheckedBase<infer Of, infer Nullable>
    ? CheckedIsAny<Declared> extends true ? \`\${Name} is any\`
    : unknown extends Declared ? [CheckedJson] extends [Of] ? never : \`\${Name} is unknown\`
    : [Exclude<Declared, null>] extends [Of]
      ? Nullable extends true ? (null extends Declared ? never : \`\${Name} can be null\`)
      : Nullable extends false ? (null extends Declared ? \`\${Name} is never null\` : never)
      : never
    : \`\${Name} is of another type\`
    : never
type CheckedField<Row, K> = Row extends unknown ? (K extends keyof Row ? Row[K] : null) : never
// A union says which rows lack columns: one row of it, in which these can be null.
type CheckedMerged<Row> = { [K in Row extends unknown ? keyof Row : never]: CheckedField<Row, K> }
type CheckedRowError<Row, Columns> = CheckedMergedError<CheckedMerged<Row>, Columns>
type CheckedMergedError<Row, Columns> = [keyof Row] extends [never] ? never : {
  [K in keyof (Row & Columns) & string]: K extends keyof Columns
    ? K extends keyof Row ? CheckedColumnError<K, Row[K], Columns[K]> : \`\${K} is not declared\`
    : \`\${K} is not selected\`
}[keyof (Row & Columns) & string]
type CheckedParameterError<Given, Parameters> = {
  [K in keyof Parameters & string]: K extends keyof Given
    ? [Exclude<Given[K], null>] extends [Parameters[K]] ? never : \`:\${K} is of another type\`
    : \`:\${K} is not given\`
}[keyof Parameters & string]
type CheckedSql<Problem> = [Problem] extends [never] ? string : Problem
`

/**
 * Compiles a copy of the sources in which every call must match PostgreSQL's description of its statements.
 * @param directory of the sources, which contains \`db/statement.ts\`
 * @returns the compiler's messages, line by line; empty if everything matches
 */
export async function compileWith(directory: string, sites: readonly Site[]): Promise<string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'penstock-types-'))
  try {
    // Tests have no statements, and import files that are not copied.
    await cp(directory, join(copy, 'src'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
    await writeFile(join(copy, 'package.json'), '{ "type": "module" }')
    await writeFile(
      join(copy, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['src'], exclude: [] }),
    )
    for (const [file, of] of Map.groupBy(sites, (site) => site.file)) {
      const path = join(copy, 'src', file)
      const lines = (await readFile(path, 'utf8')).split('\n')
      // From the end, so that a replacement does not move later ones.
      for (const [i, { line, column }] of [...of.entries()].toSorted(([, a], [, b]) => b.column - a.column)) {
        const text = lines[line - 1] ?? ''
        const [before, after] = [text.slice(0, column - 1), text.slice(column - 1)]
        if (!/^statement[<(]/.test(after)) throw new Error(`${file}:${line}:${column} calls no statement: ${after}`)
        lines[line - 1] = `${before}${after.replace('statement', nameAt(i))}`
      }
      const made = relative(dirname(file), 'db/statement.ts')
      const module = made.startsWith('.') ? made : `./${made}`
      await writeFile(path, [...lines, helpers, ...of.map((site, i) => declare(nameAt(i), module, site))].join('\n'))
    }
    return await compile(copy)
  } finally {
    await rm(copy, { recursive: true })
  }
}

const nameAt = (i: number) => `statementAt${i}`

function declare(name: string, module: string, { descriptions }: Site): string {
  const typeErrors = descriptions.map(({ parameters, columns }) => {
    const given = parameters.map((one) => `${JSON.stringify(one.name)}: ${takenFor[one.type] ?? `'${one.type}'`}`)
    const read = columns.map(
      (one) =>
        `${JSON.stringify(one.name)}: CheckedBase<${readAs[one.type] ?? `'${one.type}'`}, ${one.nullable ?? 'unknown'}>`,
    )
    return `CheckedParameterError<P, { ${given.join('; ')} }> | CheckedRowError<R, { ${read.join('; ')} }>`
  })
  return `
declare function ${name}<
  P extends Record<string, unknown> = Record<never, never>,
  R extends Record<string, unknown> = Record<never, never>,
>(
  sql: CheckedSql<${[...new Set(typeErrors)].join(' | ')}>,
  options?: import('${module}').StatementOptions,
): import('${module}').Statement<P, R>`
}

const compile = (directory: string) =>
  new Promise<string[]>((resolve) => {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    // Several checkers would each read the types that all files share.
    execFile(
      process.execPath,
      [tsc, '-p', directory, '--pretty', 'false', '--singleThreaded'],
      (error, stdout, stderr) => {
        const said = `${stdout}${stderr}`.trim()
        resolve(said || error ? (said || String(error)).split('\n') : [])
      },
    )
  })
