import {
  type Cell,
  type Check,
  checkSteps,
  type Discovered,
  type DiscoveredPage,
  type DiscoveryContext,
  eachColumn,
  eventKinds,
  kindOfValue,
} from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { eventReading, type KnownColumns, withKnown } from './columns.ts'
import { eventsIn } from './events.ts'
import { isStoredInKafka } from './store-fields.ts'

/** The newest events whose values are looked at. */
const eventsMax = 1_000
const samplesMax = 3

type Seen = { readonly counts: Map<number, number>; readonly samples: Set<Cell>; total: number }

/** The columns of the events, with the share of the newest events that have a value. */
export async function discoverColumns(context: DiscoveryContext, known?: KnownColumns): Promise<DiscoveredPage> {
  const { columns } = await context.events.open({ at: 'oldest' })
  const { seen, events } = await lookAtNewest(context)
  const shape = String(context.settings.shape ?? 'keys')
  const found = withKnown(columns, known).map(({ name, kinds }): Discovered => {
    const of = seen.get(name)
    const samples = context.withSamples && of ? { samples: [...of.samples] } : {}
    return { value: name, kind: 'column', type: wordsOf(kinds, of, events), ...samples }
  })
  const own = new Set(eventReading([], shape).columns)
  const types: Readonly<Record<string, string>> = { _number: 'bigint', _received_time: 'instant', _event: 'json' }
  const ownColumns = [...own].map((value): Discovered => ({ value, kind: 'column', type: types[value] }))
  return pageOfAll([...(shape === 'event' ? [] : found), ...ownColumns], context)
}

async function lookAtNewest({ events }: DiscoveryContext): Promise<{ seen: Map<string, Seen>; events: number }> {
  const seen = new Map<string, Seen>()
  let total = 0
  for (const batch of await events.newest()) {
    for (const { value } of eventsIn(batch)) {
      if (!value || total === eventsMax) continue
      total++
      eachColumn(value, (name, one) => {
        const of = seen.get(name) ?? { counts: new Map(), samples: new Set(), total: 0 }
        seen.set(name, of)
        const kind = kindOfValue(one)
        of.total++
        of.counts.set(kind, (of.counts.get(kind) ?? 0) + 1)
        if (of.samples.size < samplesMax) of.samples.add(typeof one === 'object' ? JSON.stringify(one) : (one as Cell))
      })
    }
  }
  return { seen, events: total }
}

const kindNames = Object.entries(eventKinds)

/** Kinds of values, the most frequent first, and how many of the newest events have a value: `text, in 83 %`. */
function wordsOf(kinds: number, of: Seen | undefined, events: number): string {
  const names = kindNames
    .filter(([, bit]) => (kinds & bit) !== 0)
    .toSorted(([, a], [, b]) => (of?.counts.get(b) ?? 0) - (of?.counts.get(a) ?? 0))
    .map(([name]) => name)
    .join(' or ')
  return events === 0 ? names : `${names}, in ${Math.round(((of?.total ?? 0) / events) * 100)} %`
}

/** Checks whether events can be stored. In Kafka, whether the user is allowed to write to the topic. */
export const check: Check = async (context) => {
  if (!isStoredInKafka(context.secrets)) return checkKept(context)
  const { check } = await import('../kafka/check.ts')
  return check({ ...context, settings: { topic: context.secrets.topic ?? '' } })
}

/** Whether the stream can be read, which needs only this service. */
const checkKept: Check = checkSteps([
  'events',
  async ({ events }) => {
    const { last, removed } = await events.open({ at: 'oldest' })
    if (last === 0) return 'The stream has received no event yet. Create a write key and send one.'
    return `The stream has received ${last} events, of which ${last - removed} are kept.`
  },
])
