/**
 * SQL of a column of the table that a rejected record `r` is of, if its transfer moved many: records of part 3 have numbers from 3,000,001.
 */
export const ofTable = (column: 'table_name' | 'source_columns') => `(
    select ${column} from transfer_parts
    where transfer_id = r.transfer_id and number = r.number / 1000000 and table_name is not null
  )`
