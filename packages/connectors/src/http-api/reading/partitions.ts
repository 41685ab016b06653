import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { isObject, type JsonObject, textIn } from '../../platform-api/json.ts'
import { pagesOf } from '../../platform-api/polling.ts'
import type { Api } from '../api/api.ts'
import { valueIn } from '../api/records.ts'
import {
  type ApiDefinition,
  type ApiStream,
  type PartitionStream,
  type Partitions,
  partitionsMax,
} from '../definition/definition.ts'
import { pageReader } from './pages.ts'
import { type Partition, type Span, spanOf, streamOf, valuesOf, windowsIn } from './plan.ts'

/** Characters of the value of a partition, and of another field of its record. */
const partitionLengthMax = 200
const fieldLengthMax = 2_000
/** Separates the parts of keys, and sorts before all of them. */
const separator = '\u0000'

/** Everything that the reading of partitions needs. */
export type PartitionReading = {
  readonly api: Api
  readonly definition: ApiDefinition
  readonly span: Span | undefined
  readonly context: Pick<ConnectorContext, 'settings'>
  /** Whether the first one is enough. */
  readonly sample: boolean
}

/**
 * The partitions of a stream, in order and each once; one that is `undefined` if it has none.
 * Throws what the requests throw, and `malformed_response` if there are too many or one is too long.
 */
export async function partitionsOf(
  reading: PartitionReading,
  { partitions }: ApiStream,
): Promise<readonly (Partition | undefined)[]> {
  if (!partitions) return [undefined]
  let found: readonly Partition[] = [{ key: '', value: {}, parent: {} }]
  for (const kind of partitions) {
    const own = await partitionsOfKind(reading, kind)
    if (found.length * own.length > partitionsMax) throw tooMany('The combination of partitions')
    const { name } = kind
    found = found.flatMap((left) =>
      own.map((right) => {
        if (name === undefined) return right
        return {
          key: left.key === '' ? right.key : left.key + separator + right.key,
          value: { ...(left.value as object), [name]: right.value },
          parent: { ...(left.parent as object), [name]: right.parent },
        }
      }),
    )
  }
  return found
}

async function partitionsOfKind(reading: PartitionReading, kind: Partitions): Promise<Partition[]> {
  const found = new Map<string, Partition>()
  if ('values' in kind) for (const value of kind.values) found.set(value, { key: value, value, parent: {} })
  else for (const of of kind.of) await addPartitions(reading, of, found)
  // In an order that does not depend on the answers, so that an interrupted transfer finds its place.
  return [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}

async function addPartitions(
  reading: PartitionReading,
  of: PartitionStream,
  found: Map<string, Partition>,
): Promise<void> {
  const { api, definition, context, sample } = reading
  const parent = streamOf(definition, of.stream)
  const untilMs = reading.span?.untilMs ?? Date.now()
  // Of the other stream everything is read, since its old records can have new ones below them.
  const whole = { settings: { ...context.settings, syncMode: 'Full' } }
  for (const above of await partitionsOf(reading, parent)) {
    for (const window of windowsIn(parent, spanOf(whole, parent, undefined, untilMs))) {
      for await (const { items } of pagesOf(pageReader(api, parent, valuesOf(above, window, untilMs)))) {
        for (const item of items) addPartition(found, item, of, above)
        if (sample && found.size > 0) return
      }
    }
  }
}

function addPartition(
  found: Map<string, Partition>,
  record: JsonObject,
  { stream, field, fields }: PartitionStream,
  above: Partition | undefined,
): void {
  const value = textIn(fieldOf(record, field))?.replaceAll(separator, '')
  if (value === undefined) return
  if (value.length > partitionLengthMax) {
    throw new ConnectorError(
      'malformed_response',
      `The field ${field} of ${stream} has a value that is too long for a partition.`,
    )
  }
  const more = fields.map((name) => [name, shortened(fieldOf(record, name), name, stream)] as const)
  const parent = { ...Object.fromEntries(more), ...(above && { partition: above.value, parent: above.parent }) }
  const key = above ? above.key + separator + value : value
  if (!found.has(key)) found.set(key, { key, value, parent })
  if (found.size > partitionsMax) throw tooMany(`The stream ${stream}`)
}

const fieldOf = (record: JsonObject, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : valueIn(record, name.split('.'))

function shortened(value: unknown, name: string, stream: string): unknown {
  const length = isObject(value) || Array.isArray(value) ? JSON.stringify(value).length : String(value ?? '').length
  if (length <= fieldLengthMax) return value ?? null
  const message = `The field ${name} of ${stream} has a value that is too long for a template.`
  throw new ConnectorError('malformed_response', message)
}

const tooMany = (what: string) =>
  new ConnectorError('malformed_response', `${what} gives more than ${partitionsMax} partitions.`)
