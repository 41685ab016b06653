import type { ColumnType } from '@penstock/parquet'
import type { Cell } from '../../rows.ts'
import { bounds } from '../bounds.ts'

/** A type of DuckDB. Its values are read as text, through casts of DuckDB, so that no digit is lost. */
export type DuckdbType =
  | { readonly kind: 'leaf'; readonly name: string; readonly arguments: readonly number[] }
  | { readonly kind: 'list'; readonly items: DuckdbType }
  | { readonly kind: 'struct'; readonly fields: readonly { readonly name: string; readonly type: DuckdbType }[] }
  | { readonly kind: 'map'; readonly key: DuckdbType; readonly value: DuckdbType }

const leaf = (name: string, numbers: readonly number[] = []): DuckdbType => ({ kind: 'leaf', name, arguments: numbers })

/** Reads a type as DuckDB writes it. Values of an unknown type are text. */
export function parseType(text: string): DuckdbType {
  const parser = new TypeParser(text)
  return parser.whole() ?? leaf('VARCHAR')
}

/** Words of the types that have several: `TIMESTAMP WITH TIME ZONE`. */
const wordsOfName = /[A-Z][A-Z0-9_]*(?: WITH TIME ZONE)?/y
const numbersOfName = /\((\d+)(?:,\s*(\d+))?\)/y
const suffix = /\[\d*\]/y
const bareName = /[A-Za-z_]\w*/y
const quotedName = /"((?:[^"]|"")*)"/y

class TypeParser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): DuckdbType | undefined {
    const type = this.#type(0)
    return this.#at === this.#text.length ? type : undefined
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text) ?? undefined
    if (found) this.#at = pattern.lastIndex
    return found
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #type(level: number): DuckdbType | undefined {
    if (level > bounds.nestingLevels) return undefined
    let type = this.#base(level)
    for (let depth = level; type && this.#take(suffix); depth += 1) {
      if (depth > bounds.nestingLevels) return undefined
      type = { kind: 'list', items: type }
    }
    return type
  }

  #base(level: number): DuckdbType | undefined {
    if (this.#skip('STRUCT(')) {
      const fields = this.#fields(level)
      return fields && { kind: 'struct', fields }
    }
    if (this.#skip('MAP(')) {
      const key = this.#type(level + 1)
      const value = key && this.#skip(', ') ? this.#type(level + 1) : undefined
      return key && value && this.#skip(')') ? { kind: 'map', key, value } : undefined
    }
    const [name] = this.#take(wordsOfName) ?? []
    if (name === undefined) return undefined
    const [, ...numbers] = this.#take(numbersOfName) ?? []
    return leaf(name, numbers.filter((digits) => digits !== undefined).map(Number))
  }

  #fields(level: number): { name: string; type: DuckdbType }[] | undefined {
    const fields: { name: string; type: DuckdbType }[] = []
    do {
      const quoted = this.#take(quotedName)
      const name = quoted ? quoted[1]?.replaceAll('""', '"') : this.#take(bareName)?.[0]
      const type = this.#skip(' ') ? this.#type(level + 1) : undefined
      if (name === undefined || !type) return undefined
      fields.push({ name, type })
    } while (this.#skip(', '))
    return this.#skip(')') ? fields : undefined
  }
}

/** The type with text instead of all values, in the words of DuckDB. */
export function textType(type: DuckdbType): string {
  switch (type.kind) {
    case 'leaf':
      return 'VARCHAR'
    case 'list':
      return `${textType(type.items)}[]`
    case 'struct':
      return `STRUCT(${type.fields.map(({ name, type }) => `"${name.replaceAll('"', '""')}" ${textType(type)}`).join(', ')})`
    case 'map':
      return `MAP(VARCHAR, ${textType(type.value)})`
  }
}

const kinds: Readonly<Record<string, ColumnType>> = {
  TINYINT: { kind: 'smallint' },
  UTINYINT: { kind: 'smallint' },
  SMALLINT: { kind: 'smallint' },
  USMALLINT: { kind: 'integer' },
  INTEGER: { kind: 'integer' },
  UINTEGER: { kind: 'bigint' },
  BIGINT: { kind: 'bigint' },
  UBIGINT: { kind: 'decimal', precision: 20, scale: 0 },
  HUGEINT: { kind: 'decimal' },
  UHUGEINT: { kind: 'decimal' },
  BIGNUM: { kind: 'decimal' },
  FLOAT: { kind: 'double' },
  DOUBLE: { kind: 'double' },
  BOOLEAN: { kind: 'boolean' },
  DATE: { kind: 'date' },
  TIMESTAMP: { kind: 'timestamp' },
  TIMESTAMP_S: { kind: 'timestamp', digits: 3 },
  TIMESTAMP_MS: { kind: 'timestamp', digits: 3 },
  TIMESTAMP_NS: { kind: 'timestamp', digits: 9 },
  'TIMESTAMP WITH TIME ZONE': { kind: 'instant' },
  BLOB: { kind: 'bytes' },
  UUID: { kind: 'uuid' },
  JSON: { kind: 'json' },
}

/** The type of the cells; `null` for texts and all other types. */
export function columnTypeOf(type: DuckdbType): ColumnType | null {
  switch (type.kind) {
    case 'list':
      return { kind: 'list', items: columnTypeOf(type.items) }
    case 'struct':
      return { kind: 'struct', fields: type.fields.map(({ name, type }) => ({ name, type: columnTypeOf(type) })) }
    case 'map':
      return { kind: 'json' }
    case 'leaf': {
      const [precision, scale = 0] = type.arguments
      if (type.name === 'DECIMAL' && precision !== undefined) return { kind: 'decimal', precision, scale }
      return (Object.hasOwn(kinds, type.name) && kinds[type.name]) || null
    }
  }
}

/** A value that cannot be a cell. Its message is a sentence for the rejection of its row, without values. */
export class NoCell extends Error {}

/** A value of Arrow: text, lists that are iterated by item, structs and maps by name and value. */
export type ArrowValue = string | null | Iterable<unknown>

/**
 * The cell of a value that was cast to the text type.
 * @throws NoCell
 */
export function cellOf(type: DuckdbType, value: ArrowValue): Cell {
  if (value === null) return null
  return type.kind === 'leaf' ? leafCell(type.name, value as string) : jsonOf(type, value)
}

function jsonOf(type: DuckdbType, value: ArrowValue): string {
  if (value === null) return 'null'
  switch (type.kind) {
    case 'leaf':
      return JSON.stringify(leafCell(type.name, value as string))
    case 'list':
      return `[${Array.from(value, (item) => jsonOf(type.items, item as ArrowValue)).join()}]`
    case 'struct': {
      const values = Array.from(value as Iterable<[string, ArrowValue]>, ([, each]) => each)
      return `{${type.fields.map(({ name, type }, at) => `${JSON.stringify(name)}:${jsonOf(type, values[at] ?? null)}`).join()}}`
    }
    case 'map': {
      const entries = [...(value as Iterable<[string, ArrowValue]>)].map(([key, each]) => [
        String(type.key.kind === 'leaf' ? leafCell(type.key.name, key) : key),
        jsonOf(type.value, each),
      ])
      // Keys that differ in DuckDB can be the same text.
      if (new Set(entries.map(([key]) => key)).size < entries.length)
        throw new NoCell('The row has a map with the same key twice.')
      return `{${entries.map(([key = '', each]) => `${JSON.stringify(key)}:${each}`).join()}}`
    }
  }
}

const notFinite: Readonly<Record<string, string>> = { nan: 'NaN', '-nan': 'NaN', inf: 'Infinity', '-inf': '-Infinity' }

function leafCell(name: string, text: string): Cell {
  switch (name) {
    case 'TINYINT':
    case 'UTINYINT':
    case 'SMALLINT':
    case 'USMALLINT':
    case 'INTEGER':
    case 'UINTEGER':
    case 'BIGINT':
    case 'UBIGINT':
    case 'HUGEINT':
    case 'UHUGEINT':
    case 'BIGNUM': {
      const number = Number(text)
      return Number.isSafeInteger(number) ? number : text
    }
    case 'FLOAT':
    case 'DOUBLE': {
      const number = Number(text)
      if (Number.isFinite(number)) return Object.is(number, -0) ? '-0' : number
      return notFinite[text] ?? text
    }
    case 'BOOLEAN':
      return text === 'true'
    case 'TIMESTAMP':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP_NS':
      return text.replace(localTime, '$1T$2')
    case 'TIMESTAMP WITH TIME ZONE':
      return text.replace(instant, '$1T$2Z')
    case 'BLOB':
      return `\\x${bytesOf(text).toString('hex')}`
    default:
      return text
  }
}

/** A time in a year of four digits. Other and infinite times stay as DuckDB writes them. */
const localTime = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)$/
/** The zone of DuckDB is UTC here. */
const instant = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00(?::00)?$/

/** The bytes of a blob out of its text: characters of ASCII, and `\x` with two digits for all others. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const isEscape = text[at] === '\\'
    bytes[length++] = isEscape ? Number.parseInt(text.slice(at + 2, at + 4), 16) : text.charCodeAt(at)
    if (isEscape) at += 3
  }
  return bytes.subarray(0, length)
}
