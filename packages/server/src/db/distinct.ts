/**
 * A recursive common table expression, `name (id)`: every value of a column that leads an index, each found by one look at the
 * index, however many rows there are. The last row is null.
 * @param condition what rows must be, such as the condition of a partial index
 */
export const distinct = (name: string, table: string, column: string, condition = 'true') => `
  ${name} (id) as (
    (select ${column} from ${table} where ${condition} order by ${column} limit 1)
    union all
    select (
      select ${column} from ${table} where ${condition} and ${column} > ${name}.id order by ${column} limit 1
    ) from ${name} where ${name}.id is not null
  )`
