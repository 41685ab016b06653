/** The ILIKE pattern of a `q` filter: a substring in which `%`, `_` and `\` are plain characters. Null filters nothing. */
export function containing(q: string | undefined): string | null {
  return q ? `%${q.replaceAll(/[\\%_]/g, '\\$&')}%` : null
}
