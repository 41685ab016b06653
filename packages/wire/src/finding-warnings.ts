import type { ConnectorErrorCode } from './transfer-errors.ts'

/** Problems that a preview finds. They do not fail the transfer. */
export const findingWarnings = {
  required_column_not_delivered: {
    when: 'The destination needs a value in a column that nothing is mapped to and that has no default. A trigger may still fill it.',
    todo: 'Map a column to it, or give it a default.',
  },
  expected_value_missing: {
    when: 'Some of the previewed records lack a value that the platform expects. It may match or use them less, or not at all.',
    todo: 'Map a column to it.',
  },
  replaced_in_parts: {
    when: 'The records replace all that is there, and the platform takes them in several requests. If the transfer fails in between, only a part is there until a transfer succeeds.',
    todo: 'Start another transfer if one fails, or add and remove records instead of replacing them.',
  },
  type_mismatch: {
    when: 'Some of the previewed records have a value that the destination column does not accept.',
    todo: 'Map another column to it, or change its type.',
  },
  rows_not_tried: {
    when: 'The preview cannot find all records that the destination would reject: it could not try them there, or not under all rules of the table.',
    todo: 'Read the rejected records after the first transfer, or send a few records as a test.',
  },
  vanished_rows_stay: {
    when: 'The source reads some days again. A record that its platform does not report any more stays at the destination with its last figures.',
    todo: 'Do what the message says, or remove such records there yourself.',
  },
  rows_inserted_again: {
    when: 'The destination inserts rows, a transfer has sent rows before, and the source is read from its beginning. The next transfer inserts rows that it has a second time.',
    todo: 'Write by a key, send only new and changed rows, or have the source read incrementally.',
  },
  columns_not_read: {
    when: 'The source has columns that its API does not return, so no transfer has them.',
    todo: 'Nothing, unless you need them; then select columns with the same data.',
  },
  changes_waiting: {
    when: 'A database keeps much of its log for the changes that this connection has not read yet.',
    todo: 'Run transfers more often, or remove what the message names if nothing reads it any more.',
  },
  changes_kept_briefly: {
    when: 'A database keeps the log that changes are read from for less than a day.',
    todo: 'Raise the time as the message says, or run transfers more often.',
  },
  rows_without_cursor: {
    when: 'Some rows of an incremental source have no value in the cursor column, or not a finite number. No transfer reads them.',
    todo: 'Give these rows a value, use another column as the cursor, or read all rows each time.',
  },
} as const
/** The code of a finding: the one with which a transfer would fail, or a warning. */
export type FindingCode = ConnectorErrorCode | 'connector_failed' | keyof typeof findingWarnings
