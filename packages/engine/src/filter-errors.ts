import { compileFilter, type HashKey } from '@penstock/expressions'
import type { FieldError } from '@penstock/wire'

/**
 * The errors of the setting of a connection that selects the rows to send.
 * @param columns of the source, if they are known
 * @param path its path in the request
 * @param key for expressions that hash, if it is known
 */
export function filterErrors(
  setting: unknown,
  columns: readonly string[] | undefined,
  path: string,
  key?: HashKey,
): FieldError[] {
  if (setting === undefined || String(setting).trim() === '') return []
  const { wrong, problem } = compileFilter(String(setting), columns, key)
  return wrong === undefined ? [] : [{ field: path, message: wrong, place: problem }]
}
