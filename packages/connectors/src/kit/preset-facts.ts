import type { ConnectorDefinition, Fields, Records, Row, Values } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import type { Read } from '../platform-api/rows/events.ts'

/**
 * A connector that is a preset over Amazon S3: the layout that a platform documents, so that a user gives only the keys and the place.
 * The reading and writing of objects, checkpoints, parts, the check and the discovery are those of the connectors of Amazon S3.
 */
export type FilePreset = Omit<ConnectorDefinition, 'source' | 'destination' | 'check' | 'actions'> & {
  readonly source?: PresetSource
  readonly destination?: PresetDestination
}

/** Files that a platform leaves in a bucket. */
export type PresetSource = {
  /** Settings beside the place, and where reading begins. */
  readonly fields?: Fields
  /** Facts about the columns. */
  readonly records?: Records
  /** How the files hold rows. May throw `invalid_setting`. */
  readonly layout: (settings: Values) => PresetLayout | PresetLines
  /** Which names are data, without their folders. */
  readonly names: RegExp
  /**
   * A text by which a later file comes after an earlier one, of the name with its folders. The next transfer begins after the last
   * text that was read.
   */
  readonly order: (name: string) => string
  /**
   * Whether no earlier file can still arrive beside this one; the others are left to the next transfer. By default none can.
   * @param nowMs milliseconds since 1970
   */
  readonly isSettled?: (name: string, nowMs: number) => boolean
}

/**
 * Text with cells.
 * @property delimiter the character between two cells
 * @property columns their names, which the files do not have
 * @property shortRows whether a row may end before its last cells
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

/** Files that a platform takes from a bucket: text, a line for each row. */
export type PresetDestination = {
  /** Settings beside the place. */
  readonly fields: Fields
  readonly records: Records
  /** The name of the file below the place. @param startedMs when the transfer began, in milliseconds since 1970 */
  readonly name: (settings: Values, startedMs: number) => string
  /** The line of a row without its end, or why it can have none. Throws `invalid_setting` for settings that contradict each other. */
  readonly line: (row: BatchRow, settings: Values) => Read<string>
  /** Whether files are compressed with gzip. */
  readonly gzip: boolean
  /**
   * Files that follow a whole one, if the platform waits for them: its MD5 checksum as `md5sum` writes it, and an empty one. The latter
   * of another transfer is not written over, and refuses this one.
   */
  readonly completion?: (startedMs: number) => { readonly checksum: string; readonly done: string }
}
