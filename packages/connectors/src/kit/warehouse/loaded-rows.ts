import { ConnectorError, type LoadRejection, type LoadReport, type Row } from '@penstock/connector'

/** Rows that a warehouse loaded into a table of texts, judged by its SQL before they are written to their table. */

/** An error of a row, and the delivered column that caused it. `undefined` if the row as a whole cannot be read. */
export type RowMisfit = { readonly condition: string; readonly reason: string; readonly field: string | undefined }

/** How a warehouse makes the values of a column from texts that it loaded, and which texts it refuses. */
export type LoadedColumn = {
  /** SQL of the value. For an invalid text it is NULL and does not fail. */
  readonly value: string
  /** Errors of a text, as pairs of an SQL condition and the sentence that a worker has for them. */
  readonly misfits: readonly (readonly [condition: string, reason: string])[]
}

/** SQL of the digits of a number's text, without zeros at their ends. Numbers that are nearly equal and have the same ones are equal. */
export const significantDigits = (text: string, trim = 'trim'): string =>
  `${trim}(translate(regexp_replace(${text}, '[eE].*$', ''), '+-. ', ''), '0')`

/** If this number of rows is refused and none accepted, the rows are not the cause. */
const refusedMax = 100

/** The errors of all columns, in their order. */
export const misfitsOf = (loaded: readonly LoadedColumn[], delivered: readonly string[]): RowMisfit[] =>
  loaded.flatMap(({ misfits }, index) =>
    misfits.map(([condition, reason]) => ({ condition, reason, field: delivered[index] ?? '' })),
  )

/** SQL of the index of the first misfit of a row. NULL if it has no misfit. */
const misfitSql = (misfits: readonly RowMisfit[]): string =>
  misfits.length === 0
    ? 'cast(null as integer)'
    : `case ${misfits.map(({ condition }, index) => `when ${condition} then ${index}`).join(' ')} end`

/** SQL that is true for rows without a misfit. */
export const isGoodSql = (misfits: readonly RowMisfit[]): string =>
  misfits.length === 0 ? 'true' : `${misfitSql(misfits)} is null`

/**
 * Counts the rows of a staging table by their errors, and reads some of the bad ones.
 * @param run runs a query, and returns its rows as texts
 * @param names SQL of the columns of the staging table
 * @param rejectsMax rows that are returned individually; further rows are only counted
 * @throws `unexpected_response` if the counts contradict each other
 */
export async function badRows(
  run: (text: string) => Promise<readonly (readonly (string | null)[])[]>,
  {
    platform,
    staging,
    misfits,
    names,
  }: {
    readonly platform: string
    readonly staging: string
    readonly misfits: readonly RowMisfit[]
    readonly names: readonly string[]
  },
  rejectsMax: number,
): Promise<{ readonly staged: number; readonly rejected: readonly LoadRejection[] }> {
  const misfit = misfitSql(misfits)
  const groups = await run(`select misfit, count(*) from (select ${misfit} as misfit from ${staging}) group by misfit`)
  let staged = 0
  const left = new Map<number, number>()
  for (const [index, text] of groups) {
    const count = countOf(platform, text)
    staged += count
    if (index !== null && index !== undefined) left.set(countOf(platform, index), count)
  }
  const rejected: LoadRejection[] = []
  if (left.size > 0 && rejectsMax > 0) {
    const bad = `select ${names.join(', ')}, ${misfit} as misfit from ${staging}`
    const rows = await run(
      `select misfit, ${names.join(', ')} from (${bad}) where misfit is not null limit ${rejectsMax}`,
    )
    for (const [index, ...record] of rows) {
      const at = countOf(platform, index)
      const known = misfits[at]
      if (!known) throw notAsManyRows(platform)
      left.set(at, (left.get(at) ?? 0) - 1)
      rejected.push({ count: 1, reason: known.reason, ...ofField(known, record) })
    }
  }
  for (const [at, count] of left) {
    const known = misfits[at]
    if (!known || count < 0) throw notAsManyRows(platform)
    if (count > 0) rejected.push({ count, reason: known.reason, ...ofField(known) })
  }
  return { staged, rejected }
}

const ofField = ({ field }: RowMisfit, record?: Row): Pick<LoadRejection, 'field' | 'record'> =>
  field === undefined ? {} : { field, ...(record === undefined ? {} : { record }) }

/** Throws `everything_refused` if no row of many was accepted. */
export function assertSomeAccepted(platform: string, { rows, rejected }: LoadReport): void {
  const refused = rejected.reduce((sum, { count }) => sum + count, 0)
  if (rows < refusedMax || refused < rows) return
  throw new ConnectorError(
    'everything_refused',
    `${platform} rejected all loaded rows, so single rows are not the cause: ${rejected[0]?.reason ?? ''} Check the mapping and the settings of the connection, then start the transfer again.`,
  )
}

/** A count that a platform reports. Throws `unexpected_response` if it is not a valid count. */
export function countOf(platform: string, text: unknown): number {
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text)
  throw new ConnectorError('unexpected_response', `${platform} did not report a count of rows.`)
}

/** The counts of a platform contradict each other. */
export const notAsManyRows = (platform: string): ConnectorError =>
  new ConnectorError('unexpected_response', `${platform} wrote another number of rows than it loaded.`)
