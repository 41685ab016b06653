import type { ConnectorErrorCode } from './transfer-errors.ts'

/** Problems that a preview finds. They do not fail the transfer. */
export const findingWarnings = {
  required_column_not_delivered: {
    when: 'A required column of the destination is not mapped and has no default. A trigger may still fill it.',
    todo: 'Map a column to it, or add a default.',
  },
  expected_value_missing: {
    when: 'Some of the previewed records lack a value that the platform expects. It may match or use them less, or not at all.',
    todo: 'Map a column to it.',
  },
  replaced_in_parts: {
    when: 'The records replace all existing records, and the platform needs several requests for them. If the transfer fails in between, the destination contains only a part of them until a transfer succeeds.',
    todo: 'If a transfer fails, start another one. Or add and remove records instead of replacing them.',
  },
  type_mismatch: {
    when: 'Some of the previewed records have a value that the destination column does not accept.',
    todo: 'Map another column to it, or change its type.',
  },
  rows_not_tried: {
    when: 'The preview cannot find all records that the destination would reject, because it could not try them there, or not with all rules of the table.',
    todo: 'Read the rejected records after the first transfer, or send a few records as a test.',
  },
  vanished_rows_stay: {
    when: 'The source reads some days again. If its platform no longer reports a record, the record stays at the destination with its last figures.',
    todo: 'Follow the message, or remove such records at the destination.',
  },
  state_forgotten: {
    when: 'Settings that name the data or its destination differ from the settings of the last transfer. The cursor belongs to the earlier settings, so the next transfer reads the source from its beginning.',
    todo: 'If this is not intended, restore the earlier settings before the next transfer.',
  },
  rows_inserted_again: {
    when: 'The destination inserts rows, a transfer has sent rows before, and the source is read from its beginning. The next transfer inserts existing rows again.',
    todo: 'Write by a key, send only new and changed rows, or read the source incrementally.',
  },
  removed_rows_stay: {
    when: 'The table whose changes are read is copied again. Rows that were removed from it in the meantime can stay at the destination.',
    todo: 'Remove them at the destination, or send rows as a mirror before the table is copied again.',
  },
  consent_column_missing: {
    when: 'The source has no column that a required purpose of the sub-account names. The other columns of the purpose decide.',
    todo: 'Add the column to the source, or remove it from the purpose.',
  },
  consent_never_given: {
    when: 'No previewed record agrees to a required purpose by one of its columns. The values may be written in another way.',
    todo: 'Correct the values in the purpose.',
  },
  consent_unreadable: {
    when: 'Some of the previewed records have a text that is not the consent string that a required purpose names. This is treated as no consent.',
    todo: 'Check the column, and its kind in the purpose.',
  },
  consent_missing: {
    when: 'Some of the previewed records have no value in any column of a required purpose. They are not sent.',
    todo: 'If these people agreed, fill the column at the source.',
  },
  columns_not_read: {
    when: 'The API of the source does not return some columns, so transfers do not contain them.',
    todo: 'If you need them, select other columns with the same data.',
  },
  changes_waiting: {
    when: 'A database keeps much of its log for the changes that this connection has not read yet.',
    todo: 'Run transfers more often. If nothing reads the slot or log that the message names, remove it.',
  },
  changes_kept_briefly: {
    when: 'A database keeps its log of changes for less than a day.',
    todo: 'Raise the time as the message says, or run transfers more often.',
  },
  rows_without_cursor: {
    when: 'Some rows of an incremental source have no value in the cursor column, or a number that is not finite. No transfer reads them.',
    todo: 'Add a value to these rows, use another cursor column, or read all rows each time.',
  },
} as const

/** Whether a transfer would fail with the code of a finding. */
export const wouldFail = (code: string): boolean => !Object.hasOwn(findingWarnings, code)

/** The code of a finding: the code with which a transfer would fail, or a warning. */
export type FindingCode = ConnectorErrorCode | 'connector_failed' | keyof typeof findingWarnings
