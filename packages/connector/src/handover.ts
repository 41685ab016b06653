import type { ColumnType } from '@penstock/parquet'
import type { ConnectorContext } from './context.ts'
import type { StoredFile } from './files/store.ts'
import type { Row } from './rows.ts'
import type { Values } from './values.ts'

/**
 * Two platforms that move rows between them, without a worker: a store offers its files by reference, and a warehouse loads them. The
 * engine decides whether a transfer goes this way, and keeps its counts and checkpoints (docs/decisions/0049-handover.md).
 */

/** Stores by the schemes of their addresses. */
export type StoreScheme = 's3' | 'gs'

/**
 * How a CSV or Parquet file is written, as far as a platform that loads it must know. A CSV file is UTF-8, with quotes that are doubled, and lines
 * that end with `\n` or `\r\n`.
 */
export type TableForm = {
  /** Of a CSV file as a whole. */
  readonly compression: 'none' | 'gzip' | 'zstd'
  /** One character; empty for Parquet. */
  readonly delimiter: string
  /** The names of its columns, none of them twice; in the first line of a CSV file, more than one. */
  readonly columns: readonly string[]
  /** Set for Parquet: the types of the columns; `null` for texts. */
  readonly types?: readonly (ColumnType | null)[]
}

/** The form of a file, or why only a worker reads the file as it is meant: the end of a sentence. */
export type FileForm = { readonly form: TableForm } | { readonly whyNot: string }

/** The files of a store that a connection reads. */
export type FileOffer = {
  readonly scheme: StoreScheme
  readonly bucket: string
  /** In the order in which a worker would read them; at least one. */
  readonly files: readonly StoredFile[]
  /** Looks at the beginning of a file. Throws a `ConnectorError`, `source_changed` if it is another one by now. */
  formOf(file: StoredFile): Promise<FileForm>
  /** The first of these files that is gone or another one by now; `undefined` if all are as they were listed. */
  changedOf(files: readonly StoredFile[]): Promise<StoredFile | undefined>
}

/** Lists the files that the settings mean, or says why only a worker reads them: the end of a sentence. Throws a `ConnectorError`. */
export type Offer = (context: ConnectorContext) => Promise<FileOffer | { readonly whyNot: string }>

/** A destination that loads files of a store itself. */
export type Loads = {
  readonly schemes: readonly StoreScheme[]
  /** Whether the connection wants it. */
  readonly isWanted: (settings: Values) => boolean
  /** Why it cannot with these settings: the end of a sentence; `undefined` if it can. */
  readonly whyNot: (side: { readonly settings: Values; readonly secrets: Values }) => string | undefined
  /** Why it does not load this CSV or Parquet file: the end of a sentence; `undefined` if it does. It loads all files unless given. */
  readonly whyNotFile?: (file: StoredFile, form: TableForm) => string | undefined
  /** Why it does not load these columns into the table that is there; changes nothing. Throws a `ConnectorError`. */
  readonly whyNotTable: (
    context: ConnectorContext & Pick<LoadContext, 'columns' | 'picked' | 'sourceTypes'>,
  ) => Promise<string | undefined>
  /**
   * Finds the table, or creates it, and reads its columns. Resolves with why it does not load these columns as it would write them, the
   * end of a sentence, or with what loads. Throws a `ConnectorError`.
   */
  readonly open: (context: LoadContext) => Promise<FileLoader | { readonly whyNot: string }>
}

export type LoadContext = ConnectorContext &
  HandoverTransfer & {
    /** The columns to deliver. */
    readonly columns: readonly string[]
    readonly scheme: StoreScheme
    readonly bucket: string
    /** The columns of all files, in the order of the first one. */
    readonly sourceColumns: readonly string[]
    /** Their types, if the files are Parquet. */
    readonly sourceTypes: TableForm['types']
    /** For each delivered column, the index of the column of the source that fills it. */
    readonly picked: readonly number[]
  }

/** Files that are written alike. */
export type LoadPart = { readonly form: TableForm; readonly files: readonly StoredFile[] }

/** Files that are loaded and confirmed together. */
export type LoadGroup = {
  /** The same for the same versions of the same files of the same transfer, in every attempt. 32 hexadecimal characters. */
  readonly key: string
  readonly parts: readonly LoadPart[]
}

/** The report of a platform on a group. */
export type LoadReport = {
  /** Rows that the files have, by the count of the platform. */
  readonly rows: number
  /** Rows that it does not take. All others will be there after `commit`. */
  readonly rejected: readonly LoadRejection[]
}

/** Rows that a load does not take. */
export type LoadRejection = {
  readonly count: number
  /** Why, in a sentence without values of the row. */
  readonly reason: string
  /** The delivered column to blame, if it is known. */
  readonly field?: string
  /** The row by the columns of the source, if the platform returns it; then `count` is 1. */
  readonly record?: Row
}

/** Loads files, group after group. */
export type FileLoader = {
  /**
   * Reads the files to a place of its own, and judges their rows. May be called again for the same group, also by another attempt.
   * @param rejectsMax rows that are returned one by one; the others are counted
   */
  stage(group: LoadGroup, rejectsMax: number): Promise<LoadReport>
  /** Puts the rows of the group that was staged last into the table: once, however often it is called for a key. */
  commit(group: LoadGroup): Promise<void>
  /** Removes what is not needed any more. Never throws. */
  close(): Promise<void>
}

/** Names a transfer, for what carries its name. */
export type HandoverTransfer = {
  readonly transferId: string
  /** Counts how often a worker took the transfer up. */
  readonly attempt: number
  /** When the transfer was begun, ISO 8601; the same after a crash. */
  readonly startedTime: string
}

/** The object of a store that a transfer would write, and its form. */
export type ExportPlace = {
  readonly scheme: StoreScheme
  readonly bucket: string
  /** Its name, and what follows the name: `csv.gz`. */
  readonly name: string
  readonly extension: string
  readonly format: 'CSV' | 'NDJSON' | 'Parquet'
  readonly gzip: boolean
  /** How bytes are written in text. */
  readonly binary: 'Hexadecimal' | 'Base64'
  /** The region of the bucket, if the store has regions. */
  readonly region?: string
  /** Reads a small object of the bucket with the key of the destination; `undefined` if there is none. Throws a `ConnectorError`. */
  readonly read?: (name: string) => Promise<Buffer | undefined>
}

/** Finds the object that a transfer writes with these settings, or why only a worker writes it: the end of a sentence. Throws a `ConnectorError`. */
export type PlaceOf = (
  context: ConnectorContext & HandoverTransfer,
) => Promise<ExportPlace | { readonly whyNot: string }>

/** A source that writes its rows to a store itself. */
export type Exports = {
  readonly schemes: readonly StoreScheme[]
  /** Whether the connection wants it. */
  readonly isWanted: (settings: Values) => boolean
  /** Finds the columns, and changes nothing. Resolves with why it does not write them, the end of a sentence, or with what exports. Throws a `ConnectorError`. */
  readonly open: (
    context: ConnectorContext & HandoverTransfer & { readonly place: ExportPlace },
  ) => Promise<FileExporter | { readonly whyNot: string }>
}

/** Writes all rows of a source to a store. */
export type FileExporter = {
  readonly columns: readonly string[]
  /** Writes the files: once, however often it is called in a transfer. Throws a `ConnectorError`. @returns rows by the count of the platform */
  export(): Promise<{ readonly rows: number; readonly bytes: number; readonly files: number }>
}
