import { type Connector, defineConnector, type Ecapi, ecapiItemKeys, type InspectionContext } from '@penstock/connector'
import { type EventColumns, recordOf } from './columns.ts'
import type { EventDestination } from './event-facts.ts'
import { discoveriesOf } from './listing.ts'

/**
 * Creates a connector from the facts. Throws immediately, as a programmer's error, if facts break a rule of `defineConnector`.
 */
export function eventDestination(facts: EventDestination): Connector {
  const {
    platformApi,
    auth,
    settings,
    batch,
    columns,
    constants,
    puts,
    person,
    needs,
    finish,
    targets,
    requestMax,
    ...rest
  } = facts
  const {
    lookUp,
    completeSettings,
    request,
    answer,
    later,
    probe,
    ecapi,
    erasure,
    check,
    sourceCheck,
    inspect,
    listed,
    ...definition
  } = rest
  const run = () => import('./run/events.ts')
  return defineConnector({
    dataTypeCategory: 'events',
    actions: ['add'],
    ...definition,
    check: check ?? (async (context) => (await run()).checkEvents(facts, context)),
    destination: {
      deliver: {
        batch: () => batch,
        recognisesKeys: true,
        open: async (context) => (await run()).openEvents(facts, context),
        ...((inspect || probe !== null) && {
          inspect: async (context: InspectionContext) => (await run()).inspectEvents(facts, context),
        }),
        rejectionsOf: async (context) => (await run()).rejectionsOf(facts, context),
      },
      fields: Object.fromEntries(
        Object.entries(settings).map(([key, field]) => {
          if (!('pattern' in field)) return [key, field]
          const { pattern, example, needed, what, ...plain } = field
          return [key, plain]
        }),
      ),
      records: Object.fromEntries(Object.entries(columns).map(([name, one]) => [name, recordOf(one)])),
      ...(erasure && { erasure }),
      ...(ecapi && { ecapi: withItems(ecapi, columns) }),
      ...(listed && { discover: discoveriesOf(facts, settings) }),
    },
  })
}

/** Adds the loss of items, from the keys of an item that the column accepts. */
function withItems(ecapi: Ecapi, columns: EventColumns): Ecapi {
  const [name = ''] = Object.entries(ecapi.columns).find(([, column]) => column === 'properties.items') ?? []
  const reading = columns[name]?.reading
  if (reading?.kind !== 'objects' || !reading.items) return ecapi
  const { items } = reading
  const lost = ecapiItemKeys.filter((key) => !Object.hasOwn(items, key))
  const loss = `These values of an item are not sent: ${lost.join(', ')}.`
  return { ...ecapi, losses: { 'properties.items': loss, ...ecapi.losses } }
}
