import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { recordsOf } from './snowflake-loads.ts'
import type { EngineResult, WarehouseEngine } from './warehouse-engine.ts'

/** A bucket that an external location of Unity Catalog covers. */
export type DatabricksStorage = {
  /** The content of an object; `undefined` if there is none. */
  read(bucket: string, key: string): Promise<Buffer | undefined>
}

/** Functions of Databricks for texts that were loaded. */
export const loadMacros = [
  'create macro regexp_like(x, p) as regexp_matches(x, p)',
  'create macro btrim(x, c) as trim(x, c)',
]

/** A statement of a load for DuckDB. */
export const translateLoaded = (text: string): string =>
  text
    .replace(/timestampadd\(MICROSECOND, unix_micros\(/g, 'make_timestamp(epoch_us(')
    .replaceAll(`), TIMESTAMP_NTZ'1970-01-01 00:00:00')`, '))')
    .replaceAll(' as timestamp)', ' as timestamptz)')
    .replaceAll(' as string)', ' as varchar)')
    .replace(/'([^']*)\$1([^']*)'\)/g, (literal) => literal.replace(/\$(\d)/g, '\\$1'))

/** Options without which Databricks would read other values than are in the files. */
const needed = [
  "format => 'csv'",
  "schemaEvolutionMode => 'none'",
  "mode => 'PERMISSIVE'",
  "columnNameOfCorruptRecord => 'penstock_unread'",
  'header => true',
  `quote => '"'`,
  `escape => '"'`,
  'multiLine => true',
  "emptyValue => ''",
  "encoding => 'UTF-8'",
  'ignoreLeadingWhiteSpace => false',
  'ignoreTrailingWhiteSpace => false',
]

const readInto = /^insert into (\S+) \(([\w, ]+)\) select \2 from read_files\('(s3:\/\/[^']+)', (.+)\)$/s
const readParquetInto =
  /^insert into (\S+) \(([\w, ]+)\) (select .+) from read_files\('(s3:\/\/[^']+)', format => 'parquet', schemaEvolutionMode => 'none'\)$/s
const overwriteDirectory = /^insert overwrite directory '([^']+)' using parquet (select .*)$/s
const copyFolder = /^copy into (\S+) from \(select (.+) from '([^']+)'\) fileformat = parquet$/s

/**
 * Reads and writes files as Databricks does, by its published rules: `read_files` puts rows of another width into the column for corrupt
 * records, and knows a compression by the name of a file; COPY INTO loads each file once.
 * @param files paths in the volume; a file of rows has the name of the table with them as its content
 */
export function makeDatabricksLoads(
  engine: WarehouseEngine,
  files: Map<string, string>,
  loaded: Set<string>,
  translate: (text: string) => string,
  storage: () => DatabricksStorage | undefined,
) {
  let written = 0

  async function readFiles([, table = '', list = '', url = '', options = '']: RegExpExecArray) {
    const from = storage()
    if (!from) throw new Error('[PERMISSION_DENIED] no external location')
    const missing = needed.find((option) => !options.includes(option))
    if (missing !== undefined) throw new Error(`Parser Error: without ${missing}`)
    const [, schema = ''] = /schema => '([^']+)'/.exec(options) ?? []
    const [, delimiter = ','] = /sep => '((?:[^'\\]|\\.)+)'/.exec(options) ?? []
    if (!/nullValue => 'penstock-missing-[0-9a-f]{32}'/.test(options)) throw new Error('Parser Error: nullValue')
    const names = schema.split(', ').map((column) => column.replace(/ string$/, ''))
    const [, bucket = '', folder = '', rest = ''] = /^s3:\/\/([^/]+)\/((?:.*\/)?)(.*)$/s.exec(url) ?? []
    const rows: (string | null)[][] = []
    for (const name of rest.replace(/^\{(.*)\}$/, '$1').split(',')) {
      const bytes = await from.read(bucket, folder + name)
      if (!bytes) throw new Error(`[PATH_NOT_FOUND] ${name}`)
      const text = name.endsWith('.gz') ? gunzipSync(bytes) : bytes
      for (const cells of recordsOf(text, delimiter).slice(1)) {
        const isWhole = cells.length === names.length - 1
        const kept = names.slice(0, -1).map((_, at) => cells[at] ?? null)
        rows.push([...kept, isWhole ? null : cells.join(delimiter)])
      }
    }
    const values = names.map((_, at) => `v ->> '$[${at}]'`).join(', ')
    await engine.run(
      `insert into ${translate(table)} (${names.join(', ')}) select ${values} from (select unnest(cast($1 as json)::json[]) as v)`,
      [JSON.stringify(rows)],
    )
    if (names.some((name) => !list.split(', ').includes(name))) throw new Error('Binder Error: columns')
    return [[String(rows.length), String(rows.length)]]
  }

  async function readParquet([, table = '', list = '', select = '', url = '']: RegExpExecArray) {
    const from = storage()
    if (!from) throw new Error('[PERMISSION_DENIED] no external location')
    const [, bucket = '', folder = '', rest = ''] = /^s3:\/\/([^/]+)\/((?:.*\/)?)(.*)$/s.exec(url) ?? []
    const directory = await mkdtemp(join(tmpdir(), 'penstock-parquet-'))
    try {
      let count = 0
      for (const name of rest.replace(/^\{(.*)\}$/, '$1').split(',')) {
        const bytes = await from.read(bucket, folder + name)
        if (!bytes) throw new Error(`[PATH_NOT_FOUND] ${name}`)
        const file = join(directory, 'file.parquet')
        await writeFile(file, bytes)
        const text = `insert into ${translate(table)} (${list}) ${translate(select)} from read_parquet('${file}')`
        count += Number((await engine.run(text)).rows[0]?.[0])
      }
      return [[String(count), String(count)]]
    } finally {
      await rm(directory, { recursive: true })
    }
  }

  async function writeFolder([, folder = '', select = '']: RegExpExecArray): Promise<EngineResult['rows']> {
    for (const path of files.keys()) if (path.startsWith(`${folder}/`)) files.delete(path)
    const table = `crm.written_${written++}`
    await engine.run(`create table ${table} as ${translate(select)}`)
    files.set(`${folder}/part-00000-${written}.c000.snappy.parquet`, table)
    return []
  }

  async function copyFiles([, table = '', values = '', folder = '']: RegExpExecArray): Promise<EngineResult['rows']> {
    const found = [...files].filter(([path]) => path.startsWith(`${folder}/`))
    if (found.length === 0) throw new Error('[PATH_NOT_FOUND]')
    const names = [...values.matchAll(/ as `([^`]+)`/g)].map(([, name]) => `"${name}"`).join(', ')
    let count = 0
    for (const [path, rows] of found) {
      if (loaded.has(path)) continue
      const text = `insert into ${translate(table)} (${names}) select ${translate(values)} from ${rows}`
      const { rows: counts } = await engine.run(text)
      loaded.add(path)
      count += Number(counts[0]?.[0])
    }
    return [[String(count), String(count), '0']]
  }

  return {
    /** Runs a statement of these; `undefined` for all others. */
    async run(text: string): Promise<EngineResult['rows'] | undefined> {
      const read = readInto.exec(text)
      if (read) return readFiles(read)
      const parquet = readParquetInto.exec(text)
      if (parquet) return readParquet(parquet)
      const folder = overwriteDirectory.exec(text)
      if (folder) return writeFolder(folder)
      const copied = copyFolder.exec(text)
      if (copied) return copyFiles(copied)
      const replaced = /^insert overwrite (`.+?`) \(([^()]+)\) (select .*)$/s.exec(text)
      if (!replaced) return undefined
      const [, table = '', names = '', select = ''] = replaced
      await engine.run('begin')
      try {
        await engine.run(`delete from ${translate(table)}`)
        const { rows } = await engine.run(`insert into ${translate(table)} (${translate(names)}) ${translate(select)}`)
        await engine.run('commit')
        return [[rows[0]?.[0] ?? null, rows[0]?.[0] ?? null]]
      } catch (error) {
        await engine.run('rollback')
        throw error
      }
    },
  }
}
