import type { Json, Row, SourceReader } from '@penstock/connector'
import type { TransferHost, TransferState } from '../protocol.ts'

/** The rejected rows of an earlier transfer, read like any other source. */
export function readReplay(
  host: TransferHost,
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
          rows.flatMap((row, i) =>
            row.length === columns.length ? [] : [[i, 'has not as many cells as there are columns'] as const],
          ),
        )
        yield { columns, rows, errors, bytes: page.reduce((sum, { raw }) => sum + raw.length, 0), checkpoint: number }
      }
    },
    close: async () => {},
  }
}
