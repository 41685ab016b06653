import type { Spot } from '../databases/checkpoints.ts'
import { copyTextLayout, readFields } from '../databases/copy-text.ts'
import type { RawBlock, RawReading } from '../databases/raw-chunks.ts'
import { cellOf } from './cells.ts'
import { copyOutRaw } from './copy.ts'
import { isNested, type PostgresPlan, statementOf } from './plan.ts'
import type { PostgresSession } from './session.ts'

/** How the rows of a plan are read without decoding each of them. */
export function rawReadingOf(session: PostgresSession, plan: PostgresPlan): RawReading {
  const { columns, types, kinds, fields, order, width } = plan
  const rows = {
    width,
    onBroken(): never {
      throw session.unexpected('a row of COPY without the columns that were asked for')
    },
  }
  const rawColumns = columns.map((name, at) => ({
    name,
    type: { id: fields[at]?.dataTypeID ?? 0, modifier: fields[at]?.dataTypeModifier ?? -1 },
    isShown: isNested(kinds[at]),
    isPresent: order.some(({ index }) => index === at),
  }))
  const places = order.map(({ index }) => index)
  const ascending = places.toSorted((a, b) => a - b)
  return {
    columns,
    ...(types && { types }),
    layout: copyTextLayout(rows, rawColumns, (text, at) => cellOf(text, kinds[at] ?? 'text')),
    spotOf(bytes, from, to) {
      const texts = new Map<number, string>()
      readFields(rows, bytes, from, to, ascending, (text, at) => {
        texts.set(at, text ?? rows.onBroken())
      })
      return places.map((at) => texts.get(at) ?? '')
    },
  }
}

/** Why each row of a plan must be looked at; `undefined` if its bytes can pass. */
export function whyNotRaw({ bound, isKeyed, isText, width, columns }: PostgresPlan): string | undefined {
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
): AsyncGenerator<RawBlock[]> => copyOutRaw(session, statementOf(plan, from), waitMs)
