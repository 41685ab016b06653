import { type Connector, defineConnector, type InspectionContext } from '@penstock/connector'
import { recordOf } from './columns.ts'
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
      ...(listed && { discover: discoveriesOf(facts, settings) }),
    },
  })
}
