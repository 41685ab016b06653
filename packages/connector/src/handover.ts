import type { ColumnType } from '@penstock/parquet'
import type { ConnectorContext } from './context.ts'
import type { StoredFile } from './files/store.ts'
import type { Row } from './rows.ts'
import type { Values } from './values.ts'

/**
 * Two platforms move rows without a worker: a store offers its files by reference, and a warehouse loads them. The engine
 * decides whether a transfer uses this way, and keeps its counts and checkpoints (docs/decisions/handover.md).
 */

/** Stores by the schemes of their addresses. */
export type StoreScheme = 's3' | 'gs'

/**
 * Form of a CSV or Parquet file, for a platform that loads it. A CSV file is UTF-8, with doubled quotes, and lines that end
 * with ` ` or `\r `.
 */
export type TableForm = {
  /** Compression of the whole CSV file. */
  readonly compression: 'none' | 'gzip' | 'zstd'
  /** One character; empty for Parquet. */
  readonly delimiter: string
  /** The unique names of its columns. A CSV file has several columns, named in its first line. */
  readonly columns: readonly string[]
  /** For Parquet: the types of the columns; `null` for texts. */
  readonly types?: readonly (ColumnType | null)[]
}

/** The form of a file, or why only a worker can read the file correctly: the end of a sentence. */
export type FileForm = { readonly form: TableForm } | { readonly whyNot: string }

/** The files of a store that a connection reads. */
export type FileOffer = {
  readonly scheme: StoreScheme
  readonly bucket: string
  /** In the order in which a worker would read them; at least one file. */
  readonly files: readonly StoredFile[]
  /** Inspects the beginning of a file. Throws a `ConnectorError`, `source_changed` if the file was replaced. */
  formOf(file: StoredFile): Promise<FileForm>
  /** The first of these files that was removed or replaced; `undefined` if all are unchanged. */
  changedOf(files: readonly StoredFile[]): Promise<StoredFile | undefined>
}

/**
 *  Lists the files that match the settings, or returns why only a worker can read them: the end of a sentence. Throws a
 *  `ConnectorError`.
 */
export type Offer = (context: ConnectorContext) => Promise<FileOffer | { readonly whyNot: string }>

/** A destination that loads files of a store itself. */
export type Loads = {
  readonly schemes: readonly StoreScheme[]
  /** Whether the connection wants it. */
  readonly isWanted: (settings: Values) => boolean
  /** Why it cannot with these settings, as the end of a sentence; `undefined` if it can. */
  readonly whyNot: (side: { readonly settings: Values; readonly secrets: Values }) => string | undefined
  /**
   * Why it cannot load this CSV or Parquet file, as the end of a sentence; `undefined` if it can. Absent if it loads all files.
   */
  readonly whyNotFile?: (file: StoredFile, form: TableForm) => string | undefined
  /** Why it cannot load these columns into the existing table. Changes nothing. Throws a `ConnectorError`. */
  readonly whyNotTable: (
    context: ConnectorContext & Pick<LoadContext, 'columns' | 'picked' | 'sourceTypes'>,
  ) => Promise<string | undefined>
  /**
   * Finds or creates the table, and reads its columns. Resolves with a loader, or with the reason why it cannot load these
   * columns as it would write them, the end of a sentence. Throws a `ConnectorError`.
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

/** Files of the same form. */
export type LoadPart = { readonly form: TableForm; readonly files: readonly StoredFile[] }

/** Files that are loaded and confirmed together. */
export type LoadGroup = {
  /** The same for the same versions of the same files of the same transfer, in every attempt. 32 hexadecimal characters. */
  readonly key: string
  readonly parts: readonly LoadPart[]
}

/** The report of a platform on a group. */
export type LoadReport = {
  /** Number of rows in the files, by the count of the platform. */
  readonly rows: number
  /** Rows that it rejects. All other rows are in the table after `commit`. */
  readonly rejected: readonly LoadRejection[]
}

/** Rows that a load rejects. */
export type LoadRejection = {
  readonly count: number
  /** Why, in a sentence without values of the row. */
  readonly reason: string
  /** The delivered column that is the cause, if it is known. */
  readonly field?: string
  /** The row by the columns of the source, if the platform returns it; `count` is then 1. */
  readonly record?: Row
}

/** Loads files, group after group. */
export type FileLoader = {
  /**
   * Reads the files into a separate place, and checks their rows. Can be called again for the same group, also by another
   * attempt.
   * @param rejectsMax maximum rows that are returned one by one; further rows are only counted
   */
  stage(group: LoadGroup, rejectsMax: number): Promise<LoadReport>
  /** Adds the rows of the group that was staged last to the table, exactly once for each key, even if it is called again. */
  commit(group: LoadGroup): Promise<void>
  /** Removes temporary data. Never throws. */
  close(): Promise<void>
}

/** Identifies a transfer, for resources that are named after it. */
export type HandoverTransfer = {
  readonly transferId: string
  /** Number of times that a worker claimed the transfer. */
  readonly attempt: number
  /** When the transfer was begun, ISO 8601; the same after a crash. */
  readonly startedTime: string
}

/** The object of a store that a transfer would write, and its form. */
export type ExportPlace = {
  readonly scheme: StoreScheme
  readonly bucket: string
  /** Its name, and the extension of the name: `csv.gz`. */
  readonly name: string
  readonly extension: string
  readonly format: 'CSV' | 'NDJSON' | 'Parquet'
  readonly gzip: boolean
  /** How bytes are written in text. */
  readonly binary: 'Hexadecimal' | 'Base64'
  /** The region of the bucket, if the store has regions. */
  readonly region?: string
  /**
   *  Reads a small object of the bucket with the key of the destination; `undefined` if it does not exist. Throws a
   *  `ConnectorError`.
   */
  readonly read?: (name: string) => Promise<Buffer | undefined>
}

/**
 *  Finds the object that a transfer writes with these settings, or returns why only a worker can write it: the end of a
 *  sentence. Throws a `ConnectorError`.
 */
export type PlaceOf = (
  context: ConnectorContext & HandoverTransfer,
) => Promise<ExportPlace | { readonly whyNot: string }>

/** A source that writes its rows to a store itself. */
export type Exports = {
  readonly schemes: readonly StoreScheme[]
  /** Whether the connection wants it. */
  readonly isWanted: (settings: Values) => boolean
  /**
   *  Finds the columns, and changes nothing. Resolves with an exporter, or with the reason why it cannot write them, the end of
   *  a sentence. Throws a `ConnectorError`.
   */
  readonly open: (
    context: ConnectorContext & HandoverTransfer & { readonly place: ExportPlace },
  ) => Promise<FileExporter | { readonly whyNot: string }>
}

/** Writes all rows of a source to a store. */
export type FileExporter = {
  readonly columns: readonly string[]
  /**
   *  Writes the files exactly once in a transfer, even if it is called again. Throws a `ConnectorError`.
   * @returns rows by the count of the platform
   */
  export(): Promise<{ readonly rows: number; readonly bytes: number; readonly files: number }>
}
