/** The texts about the state of a connection. */
export const stateCard = {
  title: 'State',
  cursor: 'Incremental reading continues after the last confirmed record.',
  noCursor: 'The next transfer reads from the beginning.',
  rows: (n: number, shown: string) =>
    n === 1
      ? '1 row is remembered. It is sent again only if it has changed.'
      : `${shown} rows are remembered. They are sent again only if they have changed.`,
  since: 'Kept since',
  mirrored: (n: number, shown: string) =>
    n === 0
      ? 'Rows that are deleted from the source are removed at the destination. The last transfer removed none.'
      : `Rows that are deleted from the source are removed at the destination. The last transfer removed ${shown} ${n === 1 ? 'row' : 'rows'}.`,
  noRows: 'No rows are remembered, so the next transfer sends every row that it reads.',
  removedRowsStay: 'Removed rows stay at the destination',
  reset: 'Full refresh',
  resetTitle: 'Read and send everything again?',
  resetHelp:
    'The next transfer reads the source from its beginning and sends every row, whether it has changed or not. A destination that inserts rows gets duplicates. Nothing is removed at the destination.',
  done: 'The state was reset. The next transfer sends everything.',
  happened: (what: string, slot: string) =>
    what.startsWith('tables ')
      ? `Table ${what.slice('tables '.length)}: ${slot}`
      : what === 'slot dropped'
        ? `Replication slot dropped: ${slot}`
        : what === 'slot stays'
          ? `Replication slot could not be dropped: ${slot}`
          : what.includes('slot')
            ? 'State reset: the next transfer copies the table again, and its slot is dropped'
            : what === 'cursor'
              ? 'State reset: the next transfer reads from the beginning'
              : what === 'rows'
                ? 'State reset: the next transfer sends every row'
                : what === 'settings'
                  ? 'Settings changed: the transfer reads from the beginning'
                  : 'State reset: the next transfer reads and sends everything',
}
