import type { ColumnChange } from '@penstock/wire'

/** The table and the columns that an incident is about. They are names, not values. */

export type WhereRow = {
  /** The table of the side that failed, as the connection names it now. Null if there is no such table. */
  tableName: string | null
  columnChanges: ColumnChange[] | null
}
const columnsMax = 5

/** @param incident alias of the incident; the connection is `c` */
export const whereColumns = (incident: string): string => `
  case when ${incident}.error_side = 'Destination' then left(c.dest_config ->> 'table', 200)
    when ${incident}.error_side = 'Source' or ${incident}.error_code = 'columns_changed' then left(c.src_config ->> 'table', 200)
  end as table_name,
  case when ${incident}.error_code = 'columns_changed'
    then (select column_changes from transfers where id = ${incident}.transfer_id limit 1) end as column_changes`

/** The names of the first changed columns. */
export const columnsOf = ({ columnChanges }: Pick<WhereRow, 'columnChanges'>): string[] =>
  (columnChanges ?? []).slice(0, columnsMax).map(({ column }) => column)
