import type { TransferErrorDefinition } from './error-actions.ts'

/** Errors of transfers of many tables, for the table of all errors. */
export const tableErrors = {
  new_table: {
    action: 'fail',
    when: 'A new table of the source matches a pattern of the connection, which does not add new tables. The table is not moved.',
    todo: 'Name the table in the tables of the connection, exclude it, or let the connection add new columns and tables.',
  },
  table_paused: {
    action: 'fail',
    when: 'A person paused the table, so it is not moved. A transfer fails only if all its tables are paused.',
    todo: 'Resume the table.',
  },
  tables_failed: {
    action: 'fail',
    when: 'Some tables of a transfer of many tables failed. The other tables were moved.',
    todo: 'Correct what the error of each table names, then retry the transfer, which continues the failed tables.',
  },
} as const satisfies Record<string, TransferErrorDefinition>
