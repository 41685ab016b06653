import { type ColumnType, ConnectorError } from '@penstock/connector'
import type { Spot } from './checkpoints.ts'
import type { CursorTime, Within } from './ranges.ts'
import type { Reading } from './settings.ts'

/** Reading rows in the order of their keys by statements that begin behind any of them, for databases without a snapshot to stay in. */

/** A column or an expression that rows are ordered by. */
export type KeysetTerm = { readonly expression: string }

/** The columns, order and upper bound of a reading. Determined once, when the reader is opened. */
export type KeysetPlan<Column, Term extends KeysetTerm, At> = {
  readonly columns: readonly string[]
  /** The columns as the database describes them. */
  readonly described: readonly Column[]
  readonly types: readonly (ColumnType | null)[]
  readonly order: readonly Term[]
  /** Whether the last term is a digest of the row: rows that are equal in all columns are then equal in it, too. */
  readonly digest: boolean
  readonly orderNames: readonly string[]
  readonly incremental: boolean
  /** The settings of the cursor. */
  readonly reading: Pick<Reading, 'cursor' | 'lookBackHours' | 'timezone' | 'lagSeconds'>
  /** How the cursor says a time; absent if it does not. */
  readonly time?: CursorTime | undefined
  /** Bounds of the cursor, besides the spot. */
  readonly within?: Within | undefined
  /** Upper bound of the cursor, as text; absent if all is read. */
  readonly bound: string | undefined
  /** An incremental read finds no cursor at all. */
  readonly empty: boolean
  /** The statement, without conditions and order. */
  readonly select: string
  /** How many values each row of it has. */
  readonly width: number
  /** Where statements run, and how long they may. */
  readonly at: At
}

/**
 * The conditions and the order of a statement that reads everything behind a spot, to follow its `from`.
 * @param literalOf SQL of a value that a term is compared with; called once for each of its places, in the order of the text
 */
export function keysetClauses<Term extends KeysetTerm>(
  {
    order,
    digest,
    within,
  }: { readonly order: readonly Term[]; readonly digest: boolean; readonly within?: Within | undefined },
  { after, bound, upTo }: Pick<Spot, 'after' | 'bound' | 'upTo'>,
  literalOf: (term: Term, text: string) => string,
): string {
  const compared = (
    [term, ...others]: readonly Term[],
    [text = '', ...texts]: readonly string[],
    last: '>' | '>=' | '<=',
  ): string => {
    if (!term) return 'true'
    const { expression } = term
    if (others.length === 0) return `${expression} ${last} ${literalOf(term, text)}`
    const apart = `${expression} ${last === '<=' ? '<' : '>'} ${literalOf(term, text)}`
    return `(${apart} or (${expression} = ${literalOf(term, text)} and ${compared(others, texts, last)}))`
  }
  const [first] = order
  const conditions = [
    ...(first && bound !== undefined ? [`${first.expression} <= ${literalOf(first, bound)}`] : []),
    ...(first && within?.from !== undefined ? [`${first.expression} >= ${literalOf(first, within.from)}`] : []),
    ...(first && within?.before !== undefined ? [`${first.expression} < ${literalOf(first, within.before)}`] : []),
    // Rows with the same digest are read again and counted, because identical rows have no other order.
    ...(after ? [compared(order, after, digest ? '>=' : '>')] : []),
    ...(upTo ? [compared(order, upTo, '<=')] : []),
  ]
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  return `${where} order by ${order.map(({ expression }) => expression).join(', ')}`
}

/** A cursor column whose type is none. */
export const noCursor = ({ name, type }: { readonly name: string; readonly type: string }): ConnectorError =>
  new ConnectorError(
    'invalid_setting',
    `The cursor column ${name} holds ${type.slice(0, 100)}, neither times nor exact numbers: name another column, or convert this one in a query.`,
  )

/** A column that rows are to be ordered by, and cannot be. */
export const notOrdered = ({ name, type }: { readonly name: string; readonly type: string }): ConnectorError =>
  new ConnectorError(
    'invalid_setting',
    `The column ${name} holds ${type.slice(0, 100)}, by which rows cannot be ordered; name other columns.`,
  )
