import type { TextTable } from './csv.ts'
import type { SentRecord } from './rows.ts'

/** Finds records in result tables, which contain their columns and Salesforce's, in no order. */
export class SentRecords {
  readonly #columns: readonly string[]
  readonly #key: number | undefined
  /** Records by their key, or else by all of their cells. Equal records are interchangeable. */
  readonly #left = new Map<string, SentRecord[]>()
  readonly #identityOf: (key: string) => string

  /**
   * @param columns the sent columns
   * @param key index of the column that identifies records; `undefined` if there is no such column
   * @param identityOf converts a key to a form in which equal keys have the same text
   */
  constructor(
    columns: readonly string[],
    records: readonly SentRecord[],
    key: number | undefined,
    identityOf: (key: string) => string,
  ) {
    this.#columns = columns
    this.#key = key
    this.#identityOf = identityOf
    for (const record of records) {
      const name = this.#nameOf(record.cells)
      const same = this.#left.get(name)
      if (same) same.push(record)
      else this.#left.set(name, [record])
    }
  }

  /** The record of each row of a table. `undefined` for a record that was not sent, or was found before. */
  take({ columns, rows }: TextTable): (SentRecord | undefined)[] {
    const lower = columns.map((column) => column.toLowerCase())
    const places = this.#columns.map((column) => lower.indexOf(column.toLowerCase()))
    return rows.map((row) => this.#left.get(this.#nameOf(places.map((place) => row[place] ?? '')))?.pop())
  }

  /** The records that no table had. */
  get rest(): SentRecord[] {
    return [...this.#left.values()].flat()
  }

  #nameOf(cells: readonly string[]): string {
    if (this.#key !== undefined) return this.#identityOf(cells[this.#key] ?? '')
    return contentOf(cells)
  }
}

/** The cells of a record as one text. Salesforce trims, has its own ends of lines, and shows `#N/A` as nothing. */
const contentOf = (cells: readonly string[]): string =>
  JSON.stringify(cells.map((cell) => (cell === '#N/A' ? '' : cell.replace(/\r\n?/g, '\n').trim())))

/** Whether tables have exactly the content of the records, in any order. */
export function haveContent(tables: readonly TextTable[], columns: readonly string[], records: readonly SentRecord[]) {
  const sent = new SentRecords(columns, records, undefined, (key) => key)
  return tables.every((table) => sent.take(table).every((record) => record !== undefined)) && sent.rest.length === 0
}

/** The error of a record that failed. */
export type RecordError = { readonly reason: string; readonly field?: string; readonly locked: boolean }

const advice: Readonly<Record<string, string>> = {
  UNABLE_TO_LOCK_ROW: 'other changes of the record or its parent kept it locked; send it again.',
  REQUIRED_FIELD_MISSING: 'a field that every record needs has no value.',
  FIELD_CUSTOM_VALIDATION_EXCEPTION: 'a validation rule of the organization does not allow it.',
  FIELD_INTEGRITY_EXCEPTION: 'a value is invalid for the field, or a record that it refers to does not exist.',
  DUPLICATE_VALUE: 'another record has the same value in a unique field, or the key comes twice.',
  DUPLICATES_DETECTED: 'a duplicate rule of the organization does not allow it.',
  STRING_TOO_LONG: 'a text is longer than the field.',
  INVALID_FIELD: 'a value is invalid for the field.',
  INVALID_FIELD_FOR_INSERT_UPDATE: 'a field cannot be written in this operation.',
  INVALID_TYPE_ON_FIELD_IN_RECORD: 'a value does not have the type of the field.',
  INVALID_EMAIL_ADDRESS: 'an e-mail address is invalid.',
  INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST: 'a value is not in the restricted picklist.',
  NUMBER_OUTSIDE_VALID_RANGE: 'a number has too many digits for the field.',
  INVALID_CROSS_REFERENCE_KEY: 'a record that it refers to does not exist, or the user may not see it.',
  MALFORMED_ID: 'an ID is none of the right object.',
  ENTITY_IS_DELETED: 'the record was deleted.',
  INSUFFICIENT_ACCESS_OR_READONLY: 'the user may not change the record.',
  INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY: 'the user may not use a record that it refers to.',
  CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY: 'a trigger or a flow of the organization failed.',
  DELETE_FAILED: 'other records depend on it.',
}

/**
 * Reads the error of a record: `CODE:words:Field1 Field2 --`. Salesforce's words are omitted, because they can quote values.
 * @param columns the sent columns, one of which can be named
 */
export function recordErrorOf(text: string, columns: readonly string[]): RecordError {
  const [, code = ''] = /^\s*([A-Z][A-Z_]{2,79})\s*(?::|$)/.exec(text) ?? []
  const known = Object.hasOwn(advice, code) ? advice[code] : undefined
  const [, named = ''] = /:([\w,. ]{1,300})\s*--\s*$/.exec(text) ?? []
  const names = named.toLowerCase().split(/[\s,]+/)
  const field = columns.find((column) => names.includes(column.toLowerCase()))
  const shown = code === '' ? '' : ` (${code})`
  const reason = `Salesforce did not accept the row${shown}${known ? `: ${known}` : '; check its values and the rules of the object.'}`
  return { reason, locked: code === 'UNABLE_TO_LOCK_ROW', ...(field === undefined ? {} : { field }) }
}
