import type { ColumnChange } from '@penstock/wire'

/** The table and the columns that an incident is about. They are names, not values. */

export type WhereRow = {
  /** The table of the side that failed, as the connection names it now; null: none. */
  tableName: string | null
  columnChanges: ColumnChange[] | null
}
const columnsMax = 5

/** @param incident alias of the incident; the connection is `c` */
export const whereColumns = (incident: string): string => `
  case when ${incident}.error_code is not null then left(case ${incident}.error_side
    when 'Destination' then c.dest_config ->> 'table' else c.src_config ->> 'table' end, 200) end as table_name,
  (select column_changes from transfers where id = ${incident}.transfer_id limit 1) as column_changes`

/** The names of the first changed columns. */
export const columnsOf = ({ columnChanges }: Pick<WhereRow, 'columnChanges'>): string[] =>
  (columnChanges ?? []).slice(0, columnsMax).map(({ column }) => column)
