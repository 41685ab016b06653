import type { Json, Row, SourceReader } from '@penstock/connector'
import type { TransferHost, TransferState } from '../protocol.ts'

const wrongLength = 'The record does not have as many values as there are columns. Correct it, then send it again.'

/** The rejected rows of an earlier transfer, read like any other source. */
export function readReplay(
  host: Pick<TransferHost, 'readRejects'>,
  { columns, rows: total }: NonNullable<TransferState['replay']>,
): SourceReader {
  return {
    total: { rows: total },
    async *read(after: Json = 0) {
      for (let number = Number(after); ; ) {
        const page = await host.readRejects(number)
        const last = page.at(-1)
        if (!last) return
        number = last.number
        const rows = page.map(({ raw }) => JSON.parse(raw) as Row)
        const errors = new Map(
          rows.flatMap((row, i) => {
            const error = page[i]?.error ?? (row.length === columns.length ? null : wrongLength)
            return error === null ? [] : [[i, error] as const]
          }),
        )
        yield { columns, rows, errors, bytes: page.reduce((sum, { raw }) => sum + raw.length, 0), checkpoint: number }
      }
    },
    close: async () => {},
  }
}
