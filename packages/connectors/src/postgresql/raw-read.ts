import type { Cell, RawColumn, RawFormat, RawOffer } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import { copyTextLayout } from '../databases/copy-text.ts'
import type { RawBlock, RawReading } from '../databases/raw-chunks.ts'
import { cellOf } from './cells.ts'
import { copyOutRaw } from './copy.ts'
import { binaryEnds, binaryTypes, copyBinaryLayout } from './copy-binary.ts'
import { isNested, type PostgresPlan, statementOf } from './plan.ts'
import type { PostgresSession } from './session.ts'

/** The columns of the raw rows of a plan. */
const rawColumnsOf = ({ columns, kinds, fields, order }: PostgresPlan): readonly RawColumn[] =>
  columns.map((name, at) => ({
    name,
    type: { id: fields[at]?.dataTypeID ?? 0, modifier: fields[at]?.dataTypeModifier ?? -1 },
    isShown: isNested(kinds[at]),
    isPresent: order.some(({ index }) => index === at),
  }))

/** A small table is not worth the question whether the destination has the same types. */
const binaryRowsMin = 10_000

/** The raw rows that a plan can give. */
export function rawOffersOf(plan: PostgresPlan): readonly RawOffer[] {
  if (whyNotRaw(plan) !== undefined) return []
  const columns = rawColumnsOf(plan)
  const isBinary =
    (plan.rowsEstimated ?? 0) >= binaryRowsMin &&
    columns.every(({ type, isShown }) => !isShown && binaryTypes.has(type.id))
  return [...(isBinary ? [{ format: 'copy-binary', columns } as const] : []), { format: 'copy-text', columns }]
}

/** How the rows of a plan are read without decoding each of them. */
export function rawReadingOf(session: PostgresSession, plan: PostgresPlan, format: RawFormat): RawReading {
  const { columns, types, kinds, order, width } = plan
  const onBroken = (): never => {
    throw session.unexpected('a row of COPY without the columns that were asked for')
  }
  const decode = (text: string | null, at: number): Cell => cellOf(text, kinds[at] ?? 'text')
  const layout =
    format === 'copy-binary'
      ? copyBinaryLayout(rawColumnsOf(plan), decode, onBroken)
      : copyTextLayout({ width, onBroken }, rawColumnsOf(plan), decode)
  const places = order.map(({ index }) => index)
  const ascending = places.toSorted((a, b) => a - b)
  return {
    columns,
    ...(types && { types }),
    layout,
    spotOf(bytes, from, to) {
      const texts = new Map<number, string>()
      layout.read(bytes, from, to, ascending, (text, at) => {
        texts.set(at, text ?? onBroken())
      })
      return places.map((at) => texts.get(at) ?? '')
    },
  }
}

/** Why each row of a plan must be looked at; `undefined` if its bytes can pass. */
function whyNotRaw({ bound, isKeyed, isText, width, columns }: PostgresPlan): string | undefined {
  if (bound !== undefined) return 'rows are read by a cursor, and batches are recognised by their values'
  if (!isKeyed) return 'no primary key shows that each row is another one'
  if (!isText) return 'the encoding of the database says nothing about its texts'
  return width > columns.length ? 'a key column is shown in another form than it is compared in' : undefined
}

/** The rows behind a spot, as the server sends them. */
export const rawRowsOf = (
  session: PostgresSession,
  plan: PostgresPlan,
  from: Spot,
  waitMs: number,
  format: RawFormat,
): AsyncGenerator<RawBlock[]> =>
  copyOutRaw(session, statementOf(plan, from, format), waitMs, format === 'copy-binary' ? binaryEnds : undefined)
