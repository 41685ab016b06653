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
import type { PlatformClient } from '../platform-api/client.ts'
import { textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import {
  changeDataExtension,
  columnsOf,
  deleteDataExtension,
  makeDataExtension,
  readSchema,
  requireDataExtension,
} from './data-extensions.ts'
import { openMarketingCloud } from './marketing-cloud-api.ts'
import { lockedRow, resultOf, submitRows } from './row-requests.ts'

type SentRow = { readonly index: number; readonly row: Readonly<Record<string, Cell>> }

/** How often rows are sent that met others at the same time. */
const attemptsMax = 3

/**
 * Writes rows to a data extension. Marketing Cloud processes them later and then says of each what became of it; a batch
 * waits for that within a bound, and continues to wait where it comes again, without being sent a second time.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, signal } = context
  const marketingCloud = openMarketingCloud(context)
  const refusals = new Refusals('Marketing Cloud')
  const waitSeconds = Number(settings.resultWaitSeconds ?? 300)
  const upserts = settings.apiType !== 'Insert'
  const prepare = preparationOf(context, marketingCloud)
  let prepared: Promise<string | undefined> | undefined
  /** Requests whose rows are not known to be taken, by what was sent with them. */
  const requests = new Map<string, string>()

  async function send(name: string, key: string, sent: readonly SentRow[]) {
    let bytes = 0
    let requestId = requests.get(name)
    if (requestId === undefined) {
      const submitted = await refusals.count(() => submit(key, sent))
      requestId = submitted.requestId
      bytes = submitted.bytes
      requests.set(name, requestId)
    }
    const asked = requestId
    const result = await poll(() => resultOf(marketingCloud, asked, sent.length), {
      totalMs: waitSeconds * 1000,
      mostMs: 10_000,
      signal,
    })
    if (result === undefined) {
      const message = `Marketing Cloud accepted the rows for processing, and did not say within ${waitSeconds} seconds what became of them.`
      throw new ConnectorError('timeout', message)
    }
    if ('failed' in result) {
      requests.delete(name)
      throw new ConnectorError('platform_error', 'Marketing Cloud did not process the rows that it had accepted.')
    }
    return { bytes, result }
  }

  async function submit(key: string, sent: readonly SentRow[]) {
    try {
      return await submitRows(marketingCloud, { key, upserts, rows: sent.map(({ row }) => row) })
    } catch (error) {
      // Whether it is the rows, or that there is no such data extension, the answer does not say.
      if (error instanceof ConnectorError && error.code === 'invalid_batch') {
        await requireDataExtension(marketingCloud, key)
      }
      throw error
    }
  }

  return {
    async deliver(batch) {
      prepared ??= prepare().catch((error: unknown) => {
        prepared = undefined
        throw error
      })
      const key = await prepared
      if (key === undefined) return { bytes: 0 }
      const rejected: Rejection[] = []
      let bytes = 0
      let left = rowsOf(batch, rejected)
      for (let attempt = 1; left.length > 0; attempt++) {
        const sent = left
        const { bytes: some, result } = await send(`${batch.key} ${attempt}`, key, sent)
        bytes += some
        left = []
        if ('reasons' in result) rejected.push(...countsOf(result.reasons))
        else {
          const locked: SentRow[] = []
          for (const [at, row] of sent.entries()) {
            const of = result.rows[at]
            if (of === 'locked') locked.push(row)
            else if (typeof of === 'object') rejected.push({ index: row.index, reason: of.reason })
          }
          if (attempt < attemptsMax) left = locked
          else rejected.push(...locked.map(({ index }) => ({ index, reason: lockedRow })))
        }
      }
      for (const name of requests.keys()) if (name.startsWith(`${batch.key} `)) requests.delete(name)
      return { bytes, rejected }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** The rows as objects with the columns that are filled: what a row leaves out stays as it is. */
function rowsOf({ columns, rows }: Batch, rejected: Rejection[]): SentRow[] {
  return rows.flatMap((cells, index) => {
    const filled = columns.flatMap((column, place): [string, Cell][] => {
      const cell = cells[place]
      return cell === undefined || cell === null ? [] : [[column, cell]]
    })
    if (filled.length > 0) return [{ index, row: Object.fromEntries(filled) }]
    rejected.push({ index, reason: 'The row has no value.' })
    return []
  })
}

function countsOf(reasons: readonly string[]): Rejection[] {
  const byReason = Map.groupBy(reasons, (reason) => reason)
  return [...byReason].map(([reason, { length: count }]) => ({ count, reason }))
}

/**
 * What is done before the first row: the data extension is made, changed or deleted. Reads the settings at once.
 * @returns resolves with the key of the data extension that rows go to; `undefined` where it was deleted
 */
function preparationOf(
  { settings }: Pick<DestinationContext, 'settings'>,
  marketingCloud: PlatformClient,
): () => Promise<string | undefined> {
  const setting = (key: string, label: string): string => {
    const text = textIn(settings[key])?.trim()
    if (text) return text
    throw new ConnectorError('invalid_setting', `${label} is missing; enter it.`)
  }
  const folder = () => {
    const categoryId = setting('categoryId', 'Category ID')
    if (/^\d{1,15}$/.test(categoryId)) return Number(categoryId)
    throw new ConnectorError('invalid_setting', 'Category ID must be the number of a folder in Marketing Cloud.')
  }
  const { operationType } = settings
  if (operationType === 'Create') {
    const wanted = {
      name: setting('dataExtensionName', 'Data extension name'),
      categoryId: folder(),
      fields: readSchema(settings.schemaJson),
    }
    return async () => (await makeDataExtension(marketingCloud, wanted)).key
  }
  const key = setting('dataExtensionKey', 'Data extension key')
  if (operationType === 'Update') {
    const wanted = { name: setting('dataExtensionName', 'Data extension name'), categoryId: folder() }
    if (textIn(settings.schemaJson)?.trim()) {
      const message =
        'Update changes the name and the folder; empty Schema JSON, and change columns in Marketing Cloud.'
      throw new ConnectorError('invalid_setting', message)
    }
    return async () => {
      await changeDataExtension(marketingCloud, await requireDataExtension(marketingCloud, key), wanted)
      return key
    }
  }
  if (operationType === 'Delete') {
    return async () => {
      await deleteDataExtension(marketingCloud, key)
      return undefined
    }
  }
  return async () => key
}

/** Whether the data extension is there, and has the columns that are sent. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const marketingCloud = openMarketingCloud(context)
  const { settings, columns } = context
  preparationOf(context, marketingCloud)
  if (settings.operationType === 'Delete' || settings.operationType === 'Create') {
    await marketingCloud.askObject({ path: '/data/v1/customobjects', query: { $page: '1', $pagesize: '1' } })
    return []
  }
  const key = String(settings.dataExtensionKey).trim()
  const there = await columnsOf(marketingCloud, await requireDataExtension(marketingCloud, key))
  const unknown = columns.filter((column) => !there.some(({ name }) => name === column))
  const missing = there.filter(({ name, required }) => required && !columns.includes(name))
  return [
    ...unknown.map((column) => ({
      code: 'columns_do_not_fit' as const,
      message: 'The data extension has no column of this name in this case; rename or leave out the column.',
      column,
    })),
    ...missing.map(({ name }) => ({
      code: 'columns_do_not_fit' as const,
      message: `The data extension needs the column “${name}” in every row; map a column to it.`,
    })),
  ]
}
