import { boolean, type Fields, number, select, syncMode, type Values } from '@penstock/connector'

/** When the fields of changes apply. */
export const ofChanges = { syncMode: 'Changes' }

/**
 * The rows to read of a source that can read a log of changes, and the fields that are about changes.
 * @param log what the changes are read from: `in a replication slot`
 * @param place name of the column with the place of a change in the log
 * @param sent what the database sends of a removed row
 * @param counted what is counted: `changes of the table`
 */
export const changeFields = ({
  log,
  place,
  sent,
  counted,
}: {
  log: string
  place: string
  sent: string
  counted: string
}): { readonly syncMode: Fields; readonly changes: Fields } => ({
  syncMode: {
    syncMode: syncMode(['Full', 'Incremental', 'Changes'], {
      description: `Read all rows, only rows whose cursor has increased since the last transfer, or first all rows and then the changes that ${log}, including removed rows`,
    }),
  },
  changes: {
    deletes: select({
      label: 'Removed rows',
      description: `Remove deleted rows at the destination, which needs a key; add a row with ${sent} and delete in the column _operation; or keep them`,
      options: ['Remove', 'Add', 'Skip'],
      labels: { Remove: 'Remove them', Add: 'Add a row', Skip: 'Leave them' },
      default: 'Remove',
      when: ofChanges,
    }),
    changeColumns: boolean({
      label: 'Add change columns',
      description: `Add the columns _operation (copy, insert, update, delete or truncate), _committed_time and ${place}. Always on if removed rows are added`,
      default: false,
      when: ofChanges,
    }),
    changesMax: number({
      keepsState: 'pace',
      label: 'Changes per transfer',
      description: `Approximate number of ${counted} after which a transfer ends. The next transfer continues`,
      min: 1_000,
      max: 10_000_000,
      default: 1_000_000,
      when: ofChanges,
    }),
  },
})

/** The server and the database of a configuration, for people. */
export const serverOf = ({ host, port, database }: Values): string =>
  `${String(host ?? '').trim()}:${String(port)}/${String(database)}`
