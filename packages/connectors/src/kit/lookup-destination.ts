import { type Connector, defineConnector, type InspectionContext } from '@penstock/connector'
import type { LookupDestination } from './lookup-facts.ts'

/** Makes a connector of the facts. */
export function lookupDestination<Item>(facts: LookupDestination<Item>): Connector {
  const { platformApi, auth, settings, batch, columns, item, open, probe, ...definition } = facts
  const run = () => import('./run/lookups.ts')
  return defineConnector({
    ...definition,
    actions: ['read'],
    destination: {
      fields: settings,
      records: columns,
      deliver: {
        batch: () => batch,
        open: async (context) => (await run()).openLookups(facts, context),
        inspect: async (context: InspectionContext) => (await run()).inspectLookups(facts, context),
        rejectionsOf: async () => (await run()).rejectionsOf(facts),
      },
    },
    check: async (context) => (await run()).checkLookups(facts, context),
  })
}
