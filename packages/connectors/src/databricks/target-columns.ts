import {
  type ReadCell,
  readAs,
  readBytes,
  readDay,
  readDecimal,
  readFloat,
  readFloat32,
  readInstant,
  readJsonText,
  readSigned,
  readText,
  readTime,
  readTruth,
} from '../databases/typed-values.ts'
import type { TargetColumn } from '../kit/warehouse/table.ts'
import { isObject, listIn, textIn } from '../platform-api/json.ts'

/** A column of a table that rows go to. */
export type DatabricksColumn = TargetColumn & {
  /** In capitals, as in `BIGINT`, or `DECIMAL(12,2)`. */
  readonly type: string
  /** SQL that makes a value of the column from SQL of the text that is uploaded. */
  readonly value: (text: string) => string
}

/** The columns of a table as the catalog describes them. */
export const columnsIn = (columns: unknown): DatabricksColumn[] =>
  listIn(columns)
    .filter(isObject)
    .flatMap((column) => {
      const [name, typeText] = [textIn(column.name), textIn(column.type_text)]
      if (name === undefined || typeText === undefined || typeText.length > 100_000) return []
      const type = typeText.toUpperCase()
      const isIncomparable = /^(FLOAT|DOUBLE|VARIANT|ARRAY|MAP|STRUCT)/.test(type)
      return [{ name, type, needed: column.nullable === false, isIncomparable, ...writerFor(type, typeText) }]
    })

type Writer = Pick<DatabricksColumn, 'read' | 'value' | 'isUnjudged' | 'isPadded' | 'isAmbiguous'>

/** Every value is uploaded as text, so that no reader of JSON changes its digits. */
function writerFor(type: string, typeText: string): Writer {
  const cast = (read: ReadCell): Writer => ({ read, value: (text) => `cast(${text} as ${type})` })
  const [, precision, scale] = /^DECIMAL\((\d{1,2}),(\d{1,2})\)$/.exec(type.replaceAll(' ', '')) ?? []
  if (precision !== undefined) return cast(readDecimal(Number(precision) - Number(scale), Number(scale)))
  const [, length] = /^(?:VAR)?CHAR\((\d{1,9})\)$/.exec(type) ?? []
  if (length !== undefined) {
    return { ...cast(readText(Number(length))), value: (text) => text, isPadded: type.startsWith('CHAR') }
  }
  switch (type) {
    case 'STRING':
      return { ...cast(readText()), value: (text) => text }
    case 'TINYINT':
    case 'BYTE':
      return cast(readSigned(8n))
    case 'SMALLINT':
    case 'SHORT':
      return cast(readSigned(16n))
    case 'INT':
    case 'INTEGER':
      return cast(readSigned(32n))
    case 'BIGINT':
    case 'LONG':
      return cast(readSigned(64n))
    case 'FLOAT':
    case 'REAL':
      return cast(readFloat32)
    case 'DOUBLE':
      return cast(readFloat)
    case 'BOOLEAN':
      return cast(readTruth)
    case 'DATE':
      return cast(readDay())
    case 'TIMESTAMP_NTZ':
      return cast(readTime(6))
    case 'TIMESTAMP':
      return cast(readInstant(6, 'Z'))
    case 'BINARY':
      return {
        ...cast(readAs(readBytes(), (bytes) => bytes.toString('base64'))),
        value: (text) => `unbase64(${text})`,
      }
    case 'VARIANT':
      return { read: readJsonText, value: (text) => `parse_json(${text})` }
    default:
      if (!/^(ARRAY|MAP|STRUCT)</.test(type)) return { ...cast(readText()), isUnjudged: true, isAmbiguous: true }
      return { read: readJsonText, value: (text) => `from_json(${text}, ${quoteText(typeText)})`, isUnjudged: true }
  }
}

/** A text in a statement. */
export const quoteText = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

/** A name in a statement. */
export const quoteName = (name: string): string => `\`${name.replaceAll('`', '``')}\``
