import type { ColumnChange, ColumnChangeKind, DriftMode } from '@penstock/wire'

const typed = (column: string, type: string) => (type === '' ? column : `${column} (${type})`)

/** The texts about columns that changed between transfers. */
export const columnChanges = {
  title: 'Column changes',
  mode: 'If columns changed since the last successful transfer',
  modes: { ignore: 'Continue', stop: 'Stop', add: 'Add new columns' } satisfies Record<DriftMode, string>,
  modesHelp: {
    ignore:
      'Transfers list the columns that changed and continue. The mapping follows renamed and removed columns. Columns that a table does not have are left out.',
    stop: 'A transfer fails before its first record. Accept the changes, and the next one continues. Types are compared where the platform has them, also those of a destination table.',
    add: 'New columns of the source are added to the mapping, under their own names, and to a table of PostgreSQL or MySQL. Columns that were removed, renamed or retyped stop a transfer, as does a new column of the key.',
  } satisfies Record<DriftMode, string>,
  saved: 'The setting was saved',
  known: (source: number, destination: number | undefined) =>
    `The last successful transfer had ${source} source columns${destination === undefined ? '' : ` and ${destination} columns in the destination table`}.`,
  unknown: 'The columns are known after the first successful transfer.',

  changed: (n: number) =>
    n === 1
      ? '1 column changed since the last successful transfer'
      : `${n} columns changed since the last successful transfer`,
  change: {
    added: (column, _from, to) => `${typed(column, to)} was added to the`,
    removed: (column, from) => `${typed(column, from)} was removed from the`,
    renamed: (_column, from, to) => `${from} was renamed to ${to} in the`,
    retyped: (column, from, to) => `${column}: ${from} before, ${to} now, in the`,
  } satisfies Record<ColumnChangeKind, (column: string, from: string, to: string) => string>,
  of: { source: 'source', destination: 'destination' } satisfies Record<ColumnChange['side'], string>,
  more: (n: number) => `And ${n} more`,
  accept: 'Accept the changes',
  acceptTitle: 'Accept the changed columns?',
  acceptHelp: 'The next transfer continues with these columns. Check first that the mapping still fits.',
  accepted: 'The changes were accepted. Start the transfer again.',
}
