import {
  type Cell,
  type Check,
  type Chunk,
  checkSteps,
  type Discovered,
  type DiscoveredPage,
  type DiscoveryContext,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import type { EventReading } from '../event-stream/columns.ts'
import { openStream } from '../event-stream/read.ts'

/**
 * The columns of every outcome, with their types. `null` means text. All columns except the time are keys of the stored
 * outcome.
 */
const columns = {
  outcome_time: { kind: 'instant', digits: 3 },
  number: { kind: 'bigint' },
  connection_id: null,
  connection_name: null,
  transfer_id: null,
  part: { kind: 'integer' },
  row: { kind: 'bigint' },
  outcome: null,
  reason: null,
  field: null,
  key: { kind: 'json' },
  answer: { kind: 'json' },
  records: { kind: 'integer' },
  test: { kind: 'boolean' },
} as const satisfies Record<string, NonNullable<Chunk['types']>[number]>

const names = Object.keys(columns)
/** Values that are not stored with every outcome. */
const usual: Readonly<Record<string, Cell>> = { part: 1, records: 1, test: false }

const reading: EventReading = {
  columns: names,
  types: Object.values(columns),
  row({ number, receivedMs, value }) {
    const own: Readonly<Record<string, Cell>> = { outcome_time: new Date(receivedMs).toISOString(), number }
    if (!value) return names.map((name) => own[name] ?? null)
    return names.map((name) => own[name] ?? cellOf(name, value[name] ?? usual[name] ?? null))
  },
}

function cellOf(name: string, value: unknown): Cell {
  if (value === null) return null
  const isJson = name === 'key' || name === 'answer' || typeof value === 'object'
  return isJson ? JSON.stringify(value) : (value as Cell)
}

/** Reads the recorded outcomes, in the order in which they were confirmed. */
export const open = (context: SourceContext): Promise<SourceReader> => openStream(context, () => reading, 'outcomes')

/** The columns, which are always the same. */
export const discoverColumns = async (context: DiscoveryContext): Promise<DiscoveredPage> =>
  pageOfAll(
    Object.entries(columns).map(
      ([value, type]): Discovered => ({ value, kind: 'column', type: type === null ? 'text' : type.kind }),
    ),
    context,
  )

/** Whether outcomes can be read, which needs only this service. */
export const check: Check = checkSteps([
  'outcomes',
  async ({ events }) => {
    const { last, removed } = await events.open({ at: 'oldest' })
    if (last === 0)
      return 'No outcome is recorded yet. Enter this configuration in the setting “Record outcomes in” of a connection.'
    return `${last} outcomes were recorded, of which ${last - removed} are kept.`
  },
])
