import type { ColumnChange, ColumnChangeKind, DriftMode } from '@penstock/wire'
import type { ColumnGroup } from '../screens/transfer/column-groups.ts'

const typed = (column: string, type: string) => (type === '' ? column : `${column} (${type})`)

const counted = (n: number) => (n === 1 ? '1 column' : `${n} columns`)
/** @param mapped whether the mapping names its columns */
type NewsSentence = (n: number, columns: string, table: string, mapped: boolean) => string

const kinds: Readonly<Record<ColumnChangeKind, string>> = {
  added: 'Added',
  renamed: 'Renamed',
  removed: 'Removed',
  retyped: 'New type',
}
const ofDestination: Readonly<Record<ColumnChangeKind, string>> = {
  added: 'Stays empty until the mapping fills it.',
  renamed: 'The mapping fills the new name.',
  removed: 'The mapping no longer fills it.',
  retyped: 'Values that do not fit the new type are rejected.',
}

/** The texts about columns that changed between transfers. */
export const columnChanges = {
  title: 'Column changes',
  mode: 'If columns changed since the last successful transfer',
  modes: { ignore: 'Continue', stop: 'Stop', add: 'Add new columns' } satisfies Record<DriftMode, string>,
  modesHelp: {
    ignore:
      'Transfers list the columns that changed and continue. The mapping follows renamed and removed columns. If all columns are sent, PostgreSQL and MySQL tables get new and renamed ones; other tables do without them.',
    stop: 'A transfer fails before its first record. Accept the changes, and the next one continues. Types are compared if the platform reports them, including the types of a destination table.',
    add: 'New columns of the source are added to the mapping, under their own names, and to PostgreSQL and MySQL tables. A transfer stops if columns were removed, renamed or retyped, or if the key has a new column.',
  } satisfies Record<DriftMode, string>,
  saved: 'The setting was saved',
  known: (source: number, destination: number | undefined) =>
    `Columns at the last successful transfer: ${source} in the source${destination === undefined ? '' : `, ${destination} in the destination table`}.`,
  unknown: 'The columns are known after the first successful transfer.',

  /** Columns that changed without stopping a transfer. */
  news: {
    destination: {
      added: (n, columns, table) => `Added ${counted(n)} to ${table}: ${columns}`,
      renamed: (n, columns, table) => `Renamed ${counted(n)} of ${table}: ${columns}`,
      removed: (n, columns, table) => `Removed ${counted(n)} from ${table}: ${columns}`,
      retyped: (n, columns, table) => `New type of ${counted(n)} of ${table}: ${columns}`,
    },
    source: {
      added: (n, columns, _table, mapped) =>
        `The source has ${n === 1 ? '1 new column' : `${n} new columns`}: ${columns}${mapped ? `. The mapping does not send ${n === 1 ? 'it' : 'them'}` : ''}`,
      renamed: (n, columns) => `The source renamed ${counted(n)}: ${columns}`,
      removed: (n, columns) => `The source no longer has ${counted(n)}: ${columns}`,
      retyped: (n, columns) => `New type of ${counted(n)} of the source: ${columns}`,
    },
  } satisfies Record<ColumnChange['side'], Record<ColumnChangeKind, NewsSentence>>,
  from: (before: string, now: string) => `${before} → ${now}`,
  toMapping: 'Change the mapping',

  // Changes that stopped a transfer
  stopped: (n: number, table: string | undefined) =>
    `${n === 1 ? '1 column' : `${n} columns`}${table === undefined ? '' : ` of ${table}`} changed`,
  waits: 'Transfers wait for your decision. No rows are lost: the next transfer starts where the last one ended.',
  group: ({ change, side, columns }: ColumnGroup, destination: string) =>
    `${kinds[change]} ${columns.length}${side === 'source' ? '' : `, in ${destination}`}`,
  column: ({ change, column, from, to }: ColumnChange) =>
    change === 'renamed'
      ? `${column} is now ${to ?? ''}`
      : change === 'retyped'
        ? `${column}: ${from ?? ''} → ${to ?? ''}`
        : typed(column, (change === 'added' ? to : from) ?? ''),
  consequence: ({ side, change, columns, adds, mapped }: ColumnGroup, destination: string) => {
    const [first] = columns
    const one = columns.length === 1
    const names = first?.column ?? ''
    if (side === 'destination') return ofDestination[change]
    if (change === 'added' && !adds && mapped)
      return `The mapping does not use ${one ? 'it' : 'them'}, so ${one ? 'it is' : 'they are'} not sent.`
    if (change === 'added')
      return `${destination} gets ${one ? 'this column' : 'these columns'}, if its table can be changed.`
    if (change === 'renamed' && mapped)
      return `The mapping reads the new ${one ? 'name' : 'names'}. Correct expressions that read ${one ? names : 'the old ones'}.`
    if (change === 'renamed')
      return one && first
        ? `${destination} gets ${first.to ?? ''} as a new column.`
        : `${destination} gets the new names as new columns.`
    if (change === 'removed') return `No longer sent. Correct expressions that read ${one ? names : 'them'}.`
    return 'Sent with the new type. Values that do not fit are rejected.'
  },
  /** @param add whether new columns are added at the destination */
  decide: ({ side, change, columns, mapped }: ColumnGroup, add: boolean) => {
    const [first] = columns
    const counted = columns.length === 1 ? '1 column' : `${columns.length} columns`
    if (change === 'retyped') return columns.length === 1 ? 'Accept 1 new type' : `Accept ${columns.length} new types`
    if (side === 'destination') return `Accept ${counted}`
    if (change === 'added') return add || !mapped ? `Accept and add ${counted}` : `Accept without ${counted}`
    if (change === 'renamed')
      return columns.length === 1 ? `Read ${first?.to ?? ''}` : `Read ${columns.length} new names`
    return `Stop sending ${columns.length === 1 ? first?.column : counted}`
  },
  stoppedTables: (n: number) => `Columns of ${n === 1 ? '1 table' : `${n} tables`} changed`,
  tablesWait:
    'These tables wait for your decision, the other tables continue. No rows are lost: each table starts where it ended.',
  acceptTable: 'Accept',
  acceptTableOf: (table: string) => `Accept the changes of ${table}`,
  acceptedTable: (table: string) => `The changes of ${table} were accepted. The next transfer moves the table.`,
  acceptAll: 'Accept all and run',
  runAll: 'Run now',
  undo: 'Undo',
  undoOf: (group: string) => `Undo: ${group}`,
  accepted: 'The changes were accepted, and a transfer has started',
}
