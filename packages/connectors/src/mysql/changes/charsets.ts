import { ConnectorError } from '@penstock/connector'
import { textOf, valueIn } from '../raw-rows.ts'
import type { MysqlSession } from '../session.ts'
import { type Charset, unread } from './row-values.ts'

/** By the number of a collation. */
export type Charsets = (collation: number | undefined) => Charset | undefined

const asUtf8: Charset = (bytes) => textOf(bytes) ?? unread

/** Two bytes a character, the highest first; a text that begins with a mark of its order keeps it. */
const asUtf16 = (isBigEndian: boolean): Charset => {
  return (bytes) => {
    if (bytes.length % 2 !== 0) return unread
    const text = (isBigEndian ? Buffer.from(bytes).swap16() : bytes).toString('utf16le')
    return text.isWellFormed() ? text : unread
  }
}

const asUtf32: Charset = (bytes) => {
  if (bytes.length % 4 !== 0) return unread
  let text = ''
  for (let at = 0; at < bytes.length; at += 4) {
    const code = bytes.readUInt32BE(at)
    if (code > 0x10_ffff) return unread
    text += String.fromCodePoint(code)
  }
  return text
}

const known: Readonly<Record<string, Charset>> = {
  utf8mb4: asUtf8,
  utf8mb3: asUtf8,
  utf8: asUtf8,
  ascii: asUtf8,
  ucs2: asUtf16(true),
  utf16: asUtf16(true),
  utf16le: asUtf16(false),
  utf32: asUtf32,
}

/**
 * Asks the server for the character sets of its collations, and how it reads each byte of character sets with one byte a character.
 * Texts in other character sets, such as gbk, are unread: they are looked up.
 */
export async function charsetsOf(session: MysqlSession, isMariadb: boolean): Promise<Charsets> {
  const { host } = session.place
  // Some collations of MariaDB have another number for each character set.
  const collations = await session.run(
    isMariadb
      ? 'select id, character_set_name as name from information_schema.collation_character_set_applicability where id is not null'
      : 'select id, character_set_name as name from information_schema.collations where id is not null',
  )
  const nameOf = new Map(collations.map((row) => [Number(valueIn(host, row, 'id')), valueIn(host, row, 'name')]))
  const sets = await session.run(
    'select character_set_name as name, maxlen as length from information_schema.character_sets',
  )
  const names = sets.flatMap((set) => {
    const name = valueIn(host, set, 'name')
    const isTable = valueIn(host, set, 'length') === '1' && /^\w+$/.test(name)
    return isTable && name !== 'binary' && !Object.hasOwn(known, name) ? [name] : []
  })
  const charsets = new Map([...Object.entries(known), ...(await tablesOf(session, names))])
  return (collation) => charsets.get(nameOf.get(collation ?? -1) ?? '')
}

const allBytes = Array.from({ length: 256 }, (_, byte) => byte)

/** Character sets of one byte a character, as the server converts them. */
async function tablesOf(session: MysqlSession, names: readonly string[]): Promise<[string, Charset][]> {
  if (names.length === 0) return []
  const bytes = Buffer.from(allBytes).toString('hex')
  const columns = names.map((name) => `convert(_${name} x'${bytes}' using utf8mb4) as ${name}`)
  const [row] = await session.run(`select ${columns.join(', ')}`)
  return names.flatMap((name) => {
    const characters = [...(row?.[name] ?? '')]
    if (characters.length !== allBytes.length) return []
    return [[name, (text: Buffer) => Array.from(text, (byte) => characters[byte]).join('')] as [string, Charset]]
  })
}

/** Keys are compared with the table, so they must be in the log. */
export const keyNotRead = (column: string): ConnectorError =>
  new ConnectorError(
    'invalid_key',
    `Values of the key column ${column} cannot be read from the binary log, because of its type or character set. Convert it to utf8mb4, or select other key columns.`,
  )
