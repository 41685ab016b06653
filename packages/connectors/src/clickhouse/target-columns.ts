import {
  type ReadCell,
  readAs,
  readDay,
  readDecimal,
  readFloat,
  readFloat32,
  readInstant,
  readJsonText,
  readSigned,
  readText,
  readTruth,
  readWholeNumber,
} from '../databases/typed-values.ts'
import type { TargetColumn } from '../kit/warehouse/table.ts'
import { textIn } from '../platform-api/json.ts'

/** A column of a table that rows go to. */
export type ClickHouseColumn = TargetColumn & {
  /** As ClickHouse writes it, as in `Nullable(Int64)`. */
  readonly type: string
  readonly isNullable: boolean
  /** Whether it holds JSON that ClickHouse reads: a list, a map, a tuple. */
  readonly isNested: boolean
}

/** A column as `system.columns` describes it. `undefined` if rows cannot be written to it. */
export function columnOf([name, typeText, defaultKind]: readonly unknown[]): ClickHouseColumn | undefined {
  const [known, type, kind] = [textIn(name), textIn(typeText), textIn(defaultKind) ?? '']
  if (
    known === undefined ||
    type === undefined ||
    type.length > 100_000 ||
    kind === 'ALIAS' ||
    kind === 'MATERIALIZED'
  ) {
    return undefined
  }
  const bare = unwrapped(type)
  const isNullable = /^(LowCardinality\()?Nullable\(/.test(type)
  const isNested = /^(Array|Map|Tuple|Nested|JSON|Object|Variant|Dynamic)\b/.test(bare)
  const read = isNested ? readJsonText : readerFor(bare)
  return {
    name: known,
    type,
    isNullable,
    isNested,
    needed: !isNullable && kind !== 'DEFAULT',
    read: read ?? readText(),
    isUnjudged: isNested || read === undefined,
    isAmbiguous: isNested || (read === undefined && !bare.startsWith('Enum')),
  }
}

function unwrapped(type: string): string {
  const [, inner] = /^(?:LowCardinality|Nullable)\((.*)\)$/s.exec(type) ?? []
  return inner === undefined ? type : unwrapped(inner)
}

function readerFor(type: string): ReadCell | undefined {
  const [, unsigned, bits] = /^(U)?Int(8|16|32|64|128|256)$/.exec(type) ?? []
  if (bits !== undefined) {
    const size = BigInt(bits)
    return unsigned ? readWholeNumber(0n, 2n ** size - 1n) : readSigned(size)
  }
  const [, precision, scale] = /^Decimal\((\d{1,2}), ?(\d{1,2})\)$/.exec(type) ?? []
  if (precision !== undefined) return readDecimal(Number(precision) - Number(scale), Number(scale))
  const [, fixed] = /^FixedString\((\d{1,6})\)$/.exec(type) ?? []
  if (fixed !== undefined) return readAs(readText(Number(fixed), 'bytes'), (text) => text.replace(/\0+$/, ''))
  const [, digits] = /^DateTime64\((\d)(?:, ?'[^']*')?\)$/.exec(type) ?? []
  if (digits !== undefined) return readInstant(Number(digits), 'Z', '1900-01-01', '2262-04-10')
  if (/^DateTime(\('[^']*'\))?$/.test(type)) return readInstant(0, 'Z', '1970-01-01', '2106-02-06')
  const readers: Readonly<Record<string, ReadCell>> = {
    String: readText(),
    Float32: readFloat32,
    Float64: readFloat,
    Bool: readTruth,
    UUID: readAs(readText(), (text) => text.toLowerCase()),
    Date: readDay('1970-01-01', '2149-06-06'),
    Date32: readDay('1900-01-01', '2299-12-31'),
  }
  return readers[type]
}

/** The value of a column as a part of a line of JSON. `undefined` if it is omitted, which means its default. */
export function jsonOf({ name, isNullable, isNested }: ClickHouseColumn, value: unknown): string | undefined {
  if (value === null) return isNullable ? `${JSON.stringify(name)}:null` : undefined
  return `${JSON.stringify(name)}:${isNested ? String(value) : JSON.stringify(value)}`
}

/** A name in a statement. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``

/** A text in a statement. */
export const quoteText = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`
