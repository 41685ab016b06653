import {
  type AudienceContext,
  boolean,
  type Connector,
  column,
  type DestinationSide,
  type Discover,
  defineConnector,
  type FieldDefinition,
  type Values,
} from '@penstock/connector'
import type { AudienceDestination } from './audience-facts.ts'
import { type EventColumn, recordOf } from './columns.ts'
import { discoveriesOf } from './listing.ts'
import { replacesAll } from './replaces.ts'

/** A column that says which audience a row is about, and what it does to it. */
const segmentColumn = (options: Parameters<typeof column>[0]): EventColumn => ({
  ...column(options),
  reading: { kind: 'special' },
  to: '',
  how: {},
})

/** Which audience a row is about, and what it does to it. */
export const segmentColumns = {
  segment_name: segmentColumn({
    description: 'Name of the audience to create',
    synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
    addresses: true,
  }),
  segment_id: segmentColumn({
    description: 'ID of the audience to change',
    synonyms: ['audience_id', 'list_id'],
    addresses: true,
  }),
  action: segmentColumn({
    description: 'Whether the person is added or removed',
    required: true,
    values: ['add', 'remove'],
    removing: ['remove', 'delete'],
  }),
} as const

/** The setting `replaceExistingAudience`. */
export const replaceSetting = (description: string): FieldDefinition =>
  boolean({ asked: true, label: 'Replace existing audience', description })

/** The audience of rows that name no audience. Empty if each row must name one. */
function createdBy({ columns, own = {} }: AudienceDestination): Pick<DestinationSide, 'creates'> {
  const records = Object.keys(segmentColumns).filter((name) => columns[name] && name !== 'action')
  if (records.some((name) => columns[name]?.required || columns[name]?.oneOf !== undefined)) return {}
  const settings = [own.id, own.name].filter((name) => name !== undefined)
  return { creates: { what: 'audience', records, settings } }
}

/**
 * Creates a connector from the facts. Throws immediately, as a programmer's error, if facts break a rule of `defineConnector`.
 */
export function audienceDestination(facts: AudienceDestination): Connector {
  const {
    platformApi,
    auth,
    settings,
    account,
    findAccount,
    own,
    batch,
    columns,
    noOnes,
    identity,
    members,
    finish,
    sharing,
    listed,
    ...rest
  } = facts
  const { lists, replace, replaces, request, answer, later, send, check, ...definition } = rest
  const run = () => import('./run/audiences.ts')
  const discover: Record<string, Discover> = discoveriesOf(facts, settings)
  for (const kind of ['id', 'name'] as const) {
    const setting = own?.[kind]
    if (setting === undefined || setting in discover) continue
    discover[setting] = async (context) => (await import('./run/discover.ts')).discoverAudiences(facts, kind, context)
  }
  return defineConnector({
    dataTypeCategory: 'audience activation',
    ...definition,
    check: async (context) => (await import('./run/check-audiences.ts')).checkAudiences(facts, context),
    destination: {
      deliver: {
        batch: () => batch,
        ...(replace && { replaces: (settings: Values) => replacesAll(facts, settings) }),
        ...(replaces && { replaces }),
        ...(lists.measure && {
          measureAudiences: async (context: AudienceContext) =>
            (await import('./run/measure-audiences.ts')).measureAudiences(facts, context),
        }),
        open: async (context) => (await run()).openAudiences(facts, context),
        inspect: async (context) => (await import('./run/check-audiences.ts')).inspectAudiences(facts, context),
        rejectionsOf: async (context) => (await run()).personRejections(facts, context),
      },
      fields: Object.fromEntries(
        Object.entries(settings).map(([key, field]) => {
          if (!('pattern' in field)) return [key, field]
          const { pattern, example, needed, what, ...plain } = field
          return [key, plain]
        }),
      ),
      records: Object.fromEntries(Object.entries(columns).map(([name, one]) => [name, recordOf(one)])),
      ...createdBy(facts),
      ...(Object.keys(discover).length > 0 && { discover }),
    },
  })
}
