import {
  type Batch,
  type Cell,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type Rejection,
} from '@penstock/connector'
import { pollUntilDone } from '../platform-api/polling.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { rejectionsOf } from '../platform-api/rows/row-results.ts'
import { columnsOf, firstOne, preparationOf } from './data-extensions.ts'
import { openMarketingCloud } from './marketing-cloud-api.ts'
import { type NotTaken, type RowRequest, resultOf, submitRows } from './row-requests.ts'

/** How often rows are sent that met others at the same time. */
const attemptsMax = 3

/**
 * Writes rows to a data extension. Marketing Cloud processes them later, and then reports a result for each row. A
 * batch waits for the results within a bound. If it is delivered again, it continues to wait and is not sent twice.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, signal } = context
  const client = await openMarketingCloud(context)
  const prepare = preparationOf(settings)
  const refusals = new Refusals('Marketing Cloud')
  const waits = { totalMs: Number(settings.resultWaitSeconds ?? 300) * 1000, mostMs: 10_000, signal }
  let prepared: { readonly key: string | undefined } | undefined
  /** The requests of a batch whose rows are not known to be taken, one for each attempt. */
  let begun: { readonly batch: string; readonly requests: RowRequest[] } = { batch: '', requests: [] }

  return {
    async deliver(batch) {
      prepared ??= { key: await prepare(client) }
      const { key } = prepared
      if (key === undefined) return { bytes: 0 }
      if (begun.batch !== batch.key) begun = { batch: batch.key, requests: [] }
      const { requests } = begun
      const { rows, rejected } = readRows(batch)
      let bytes = 0
      let left = rows
      for (let attempt = 1; left.length > 0; attempt++) {
        const sent = left
        const items = sent.map(({ item }) => item)
        const request = requests[attempt - 1] ?? (await refusals.count(() => submitRows(client, settings, key, items)))
        requests[attempt - 1] = request
        const ask = () => resultOf(client, request.requestId, sent.length)
        const notTaken = await pollUntilDone('The processing of the rows by Marketing Cloud', ask, waits)
        if (notTaken === 'failed') {
          requests.pop()
          throw new ConnectorError('platform_error', 'Marketing Cloud did not process the rows that it had accepted.')
        }
        bytes += request.bytes
        const isSentAgain = ({ again }: NotTaken) => again === true && attempt < attemptsMax
        rejected.push(
          ...rejectionsOf(
            sent.map(({ index }) => ({ rows: [index] })),
            notTaken.filter((one) => !isSentAgain(one)),
          ),
        )
        left = notTaken.filter(isSentAgain).flatMap((one) => ('at' in one ? (sent[one.at] ?? []) : []))
      }
      begun = { batch: '', requests: [] }
      return { bytes, rejected }
    },
  }
}

/** A row as an object with its filled columns. Omitted columns do not change. */
type SentRow = { readonly index: number; readonly item: Readonly<Record<string, Cell>> }

/** The rows of a batch as they are sent, and the rows that are rejected beforehand. */
export function readRows({ columns, rows: all }: Batch): { rows: readonly SentRow[]; rejected: Rejection[] } {
  const rejected: Rejection[] = []
  const rows = all.flatMap((cells, index): SentRow[] => {
    const named = columns.map((column, place) => [column, cells[place] ?? null] as const)
    const filled = named.filter(([, cell]) => cell !== null)
    if (filled.length > 0) return [{ index, item: Object.fromEntries(filled) }]
    rejected.push({ index, reason: 'The row has no value.' })
    return []
  })
  return { rows, rejected }
}

/** Whether the data extension is there, and has the columns that are sent. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const client = await openMarketingCloud(context)
  const { settings, columns } = context
  preparationOf(settings)
  if (settings.operationType === 'Delete' || settings.operationType === 'Create') {
    await client.askObject(firstOne)
    return []
  }
  const there = await columnsOf(client, String(settings.dataExtensionKey).trim())
  const unknown = columns.filter((column) => !there.some(({ value }) => value === column))
  const missing = there.filter(({ value, required }) => required && !columns.includes(value))
  const code = 'columns_do_not_fit' as const
  const message = 'The data extension has no column of this name in this case; rename or leave out the column.'
  return [
    ...unknown.map((column) => ({ code, message, column })),
    ...missing.map(({ value }) => ({
      code,
      message: `The data extension needs the column “${value}” in every row; map a column to it.`,
    })),
  ]
}
