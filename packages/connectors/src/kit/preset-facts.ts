import type { ConnectorDefinition, Fields, Records, Row, Values } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import type { Read } from '../platform-api/rows/events.ts'

/**
 * A connector that is a preset over Amazon S3: the layout that a platform documents, so that a user enters only the keys and
 * the location. The connector of Amazon S3 provides everything else: reading and writing of objects, checkpoints, parts, the
 * check and the discovery.
 */
export type FilePreset = Omit<ConnectorDefinition, 'source' | 'destination' | 'check' | 'actions'> & {
  readonly source?: PresetSource
  readonly destination?: PresetDestination
}

/** Files that a platform leaves in a bucket. */
export type PresetSource = {
  /** Settings in addition to the location and the start of reading. */
  readonly fields?: Fields
  /** Facts about the columns. */
  readonly records?: Records
  /** How the files contain rows. Can throw `invalid_setting`. */
  readonly layout: (settings: Values) => PresetLayout | PresetLines
  /** Which names are data, without their folders. */
  readonly names: RegExp
  /**
   * A text that sorts a later file after an earlier one, from the name with its folders. The next transfer begins after the
   * last text that was read.
   */
  readonly order: (name: string) => string
  /**
   * Whether earlier files can no longer arrive. If they can, the next transfer reads this file. By default earlier files cannot
   * arrive.
   * @param nowMs milliseconds since 1970
   */
  readonly isSettled?: (name: string, nowMs: number) => boolean
}

/**
 * Text with cells.
 * @property delimiter the character between two cells
 * @property columns their names, which the files do not contain
 * @property shortRows whether a row can end before its last cells
 */
export type PresetLayout = {
  readonly delimiter: string
  readonly columns: readonly string[]
  readonly shortRows?: boolean
}

/** A JSON object on each line, of which rows are made: any number, each with a cell for each column. */
export type PresetLines = {
  readonly columns: readonly string[]
  readonly rowsOf: (line: JsonObject) => readonly Row[]
}

/** Files that a platform reads from a bucket: text, with a line for each row. */
export type PresetDestination = {
  /** Settings in addition to the location. */
  readonly fields: Fields
  readonly records: Records
  /** The name of the file below the place. @param startedMs when the transfer began, in milliseconds since 1970 */
  readonly name: (settings: Values, startedMs: number) => string
  /**
   * The line of a row without its line end, or why the row has no line. Throws `invalid_setting` for settings that contradict
   * each other.
   */
  readonly line: (row: BatchRow, settings: Values) => Read<string>
  /** Whether files are compressed with gzip. */
  readonly gzip: boolean
  /**
   * Files that follow a whole one, if the platform waits for them: its MD5 checksum as `md5sum` writes it, and an empty one. The latter
   * of another transfer is not written over, and refuses this one.
   */
  readonly completion?: (startedMs: number) => { readonly checksum: string; readonly done: string }
}
