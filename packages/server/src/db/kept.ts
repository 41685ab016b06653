import { limits } from '@penstock/wire'

/**
 * SQL: whether a connection can still be read. One that was deleted longer ago than the restore window cannot, whether it
 * is purged yet or not (invariant 5).
 * @param table its table in the statement, or the alias of that
 */
export const isKept = (table: string): string =>
  `(${table}.status <> 'deleted' or ${table}.deleted_time > now() - interval '${limits.restoreWindowDays} days')`
