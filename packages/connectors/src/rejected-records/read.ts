import {
  type Check,
  ConnectorError,
  checkSteps,
  type Discovered,
  type DiscoveredPage,
  type DiscoveryContext,
  type RejectedRecords,
  type RejectPlace,
  type RejectsOfConnection,
  type Row,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { fileOfPlace } from '@penstock/wire/rules'
import { pageIn, pageOfAll, windowOf } from '../discovery/pages.ts'

/** The columns of every rejected record, with their types. `null` means text. */
const columns = {
  rejected_time: { kind: 'instant', digits: 3 },
  connection_id: null,
  connection_name: null,
  transfer_id: null,
  number: { kind: 'integer' },
  source_row: { kind: 'bigint' },
  source_file: null,
  source_line: { kind: 'bigint' },
  records: { kind: 'integer' },
  field: null,
  reason: null,
  record: { kind: 'json' },
  whole: { kind: 'boolean' },
} as const

const names = Object.keys(columns)
const types = Object.values(columns)
const beginning: RejectPlace = { transfer: 0, record: null }

/** The beginning of the next transfer. A place of one connection has no meaning for another one. */
type RejectCursor = RejectPlace & { readonly of: string }

/** Reads what transfers of another connection rejected, in the order in which they ended. */
export async function open({ settings, rejects, cursor, signal }: SourceContext): Promise<SourceReader> {
  const connection = String(settings.connection ?? '')
  const known = await rejects.read(connection, beginning)
  if (!known) throw noConnection()
  const { connectionId: of } = known
  const last = cursor as RejectCursor | undefined
  const first = last?.of === of ? { transfer: last.transfer, record: last.record } : beginning
  return {
    async *read(after) {
      let from = (after as RejectPlace | undefined) ?? first
      for (let begin = from; ; ) {
        signal.throwIfAborted()
        const answer = await rejects.read(connection, from)
        if (!answer) throw noConnection()
        const { connectionId, connectionName, found } = answer
        if (connectionId !== of) throw noConnection()
        if (!found) return
        from = found.next
        if (found.records.length === 0) continue
        const chunkBegin = begin
        begin = from
        const rows = rowsOf(found, { connectionId, connectionName })
        yield {
          columns: names,
          types,
          rows,
          bytes: found.records.reduce((sum, { record }) => sum + record.length, 0),
          checkpoint: found.next,
          cursorAfter: (count): RejectCursor => ({ of, ...placeAfter(found, chunkBegin, count) }),
        }
      }
    },
    close: async () => {},
  }
}

/** The beginning of the next transfer, after the first `count` records. */
function placeAfter({ records, next }: RejectedRecords, begin: RejectPlace, count: number): RejectPlace {
  if (count === 0) return begin
  return count === records.length ? next : { transfer: next.transfer, record: records[count - 1]?.number ?? null }
}

const rowsOf = (
  { transferId, endedTime, records }: RejectedRecords,
  { connectionId, connectionName }: Pick<RejectsOfConnection, 'connectionId' | 'connectionName'>,
): Row[] =>
  records.map(({ number, row, place, count, field, reason, record, isWhole }) => [
    endedTime,
    connectionId,
    connectionName,
    transferId,
    number,
    row,
    place && fileOfPlace(place),
    place?.number ?? null,
    count,
    field,
    reason,
    record,
    isWhole,
  ])

/** Whether connections can be listed at all, which needs only this service. */
export const check: Check = checkSteps([
  'connections',
  async ({ rejects }) => {
    const [one] = await rejects.connections('', { size: 1, offset: 0 })
    return one ? `Connections can be read, such as ${one.name}.` : 'The sub-account has no other connection yet.'
  },
])

/** Connections of the sub-account, by name. */
export async function discoverConnections(context: DiscoveryContext): Promise<DiscoveredPage> {
  const window = windowOf(context)
  const found = await context.rejects.connections(context.search, { size: window.limit, offset: window.offset })
  return pageIn(
    found.map(({ id, name }) => ({ value: id, label: name, kind: 'object' })),
    window,
  )
}

/** The columns, which are the same of every connection. */
export const discoverColumns = async (context: DiscoveryContext): Promise<DiscoveredPage> =>
  pageOfAll(
    Object.entries(columns).map(
      ([value, type]): Discovered => ({ value, kind: 'column', type: type === null ? 'text' : type.kind }),
    ),
    context,
  )

const noConnection = () =>
  new ConnectorError(
    'invalid_setting',
    'The sub-account has no connection with this identifier, or none or several with this name, whose rejected records can be read. Choose one from the list: not one that reads rejected records itself.',
  )
