import {
  boolean,
  type Connector,
  type ConnectorContext,
  type ConnectorDefinition,
  defineConnector,
  type Fields,
  select,
  type Values,
} from '@penstock/connector'
import type { OperationMethod } from '../http-api/definition/definition.ts'
import { removalIn } from '../http-api/sending/removals.ts'
import { type DescribedErasure, describedErasure } from './described-erasure.ts'

/**
 * A destination that is a definition of an HTTP API (`docs/http-api-destination.md`), with the form of its platform in place of the
 * form of HTTP API. The definition is pure data: reading of rows, requests, results, previews and the check follow from it.
 */
export type DescribedDestination = Omit<ConnectorDefinition, 'destination' | 'source' | 'check'> & {
  readonly api: NonNullable<ConnectorDefinition['api']>
  /** The address that paths are relative to, and how requests are signed in, as fields of HTTP API. */
  readonly server: (secrets: Values) => { readonly url: string } & Values
  /** Fields of the configuration that operations use as parameters, too. A connection is not asked for them. */
  readonly given?: readonly string[]
  /** The definition as the guide describes it. */
  readonly definition: DefinitionText
  /** The operations as people choose them, by their names in the definition; the first is the default. */
  readonly operations: Readonly<Record<string, string>>
  /** Fields of a connection, by the names of the parameters that operations need. */
  readonly parameters?: Fields
  /** How mirrors remove the rows that left the source, by the operation that sends rows. */
  readonly removals?: Readonly<Record<string, DescribedRemoval>>
  /** How the platform erases a person; by default at the same server and at the same pace. */
  readonly erasure?: Omit<DescribedErasure, 'server'> & Partial<Pick<DescribedErasure, 'server'>>
}

/** The operation that removes, and the columns of which one is its key. `deletes`: people are deleted, so each connection must ask for it. */
export type DescribedRemoval = {
  readonly operation: string
  readonly by: readonly [string, ...string[]]
  readonly deletes?: true
}

/** A definition before it is read. */
export type DefinitionText = {
  readonly check?: object
  readonly pace?: object
  readonly operations: Readonly<Record<string, OperationText>>
}

/** An operation with the keys of the guide. */
type OperationText = {
  readonly path: string
  readonly method?: OperationMethod
  readonly parameters?: readonly string[]
  readonly batch?: { readonly rows: number; readonly bytes?: number }
  readonly [key: string]: unknown
}

/** Rows between two confirmations, at least. */
const rowsMin = 50

/** Makes a connector of a definition. */
export function describedDestination(facts: DescribedDestination): Connector {
  const { server, given = [], definition, operations, parameters = {}, removals = {}, erasure, ...rest } = facts
  const text = JSON.stringify(definition)
  const names = Object.keys(operations)
  const [usual = ''] = names
  /** The context as the connector HTTP API knows it. */
  const as = <Context extends Pick<ConnectorContext, 'secrets' | 'settings'>>(context: Context): Context => {
    const asked = Object.keys(parameters).map((name) => [name, context.settings[name]] as const)
    const known = given.map((name) => [name, context.secrets[name]] as const)
    const values = [...asked, ...known].flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    return {
      ...context,
      secrets: { ...server(context.secrets), apiName: rest.name, definition: text },
      settings: {
        operation: context.settings.operation ?? usual,
        parameters: new URLSearchParams(values).toString(),
        ...removalSettings(removals, context.settings, usual),
      },
    }
  }
  const run = () => import('../http-api/sending/deliver.ts')
  return defineConnector({
    ...rest,
    check: async (context) => (await import('../http-api/reading/discover.ts')).check(as(context)),
    destination: {
      fields: {
        operation: select({
          asked: true,
          label: 'Operation',
          description: 'What is done with the rows',
          options: names,
          default: usual,
          labels: operations,
        }),
        ...Object.fromEntries(
          Object.entries(parameters).map(([name, field]) => [
            name,
            { ...field, when: { operation: needing(definition, name) } },
          ]),
        ),
        ...removalFields(removals),
      },
      discover: { columns: async (context) => (await run()).discoverOperationColumns(as(context)) },
      ...(erasure && {
        erasure: describedErasure(rest.name, { server, ...(definition.pace && { pace: definition.pace }), ...erasure }),
      }),
      deliver: {
        batch: ({ operation }) => ({ rowsMax: rowsMaxOf(definition, String(operation ?? usual)), bytesMax: 1 << 20 }),
        recognisesKeys: true,
        ...(Object.keys(removals).length > 0 && {
          removesBy: (settings: Values) => removalIn(removalSettings(removals, settings, usual))?.by,
        }),
        open: async (context) => (await run()).open(as(context)),
        try: async (context) => (await import('../http-api/sending/try.ts')).tryOperation(as(context)),
        inspect: async (context) => (await run()).inspect(as(context)),
        rejectionsOf: async (context) => (await run()).rejectionsOf(as(context)),
      },
    },
  })
}

/** Few requests are sent again if one of them fails: one, unless a request has few rows. */
function rowsMaxOf({ operations }: DefinitionText, name: string): number {
  const { batch } = operations[name] ?? {}
  return Math.max(rowsMin, batch?.rows ?? 1)
}

const needing = ({ operations }: DefinitionText, parameter: string): string[] =>
  Object.keys(operations).filter((name) => operations[name]?.parameters?.includes(parameter))

/** The removal of a connection, as settings of the connector HTTP API. */
function removalSettings(removals: DescribedDestination['removals'], settings: Values, usual: string): Values {
  const removal = removals?.[String(settings.operation ?? usual)]
  if (!removal || (removal.deletes && settings.deletes !== true)) return {}
  const { operation, by } = removal
  const [first] = by
  const wanted = String(settings.removeBy ?? first)
  return { removal: operation, removeBy: by.includes(wanted) ? wanted : first }
}

function removalFields(removals: NonNullable<DescribedDestination['removals']>): Fields {
  const entries = Object.entries(removals)
  const keys = [...new Set(entries.flatMap(([, { by }]) => by))]
  const deleting = entries.flatMap(([name, { deletes }]) => (deletes ? [name] : []))
  const several = entries.flatMap(([name, { by }]) => (by.length > 1 ? [name] : []))
  return {
    ...(several.length > 0 && {
      removeBy: select({
        label: 'Key of a mirror',
        description: 'Column by which a mirror finds the people that left the source',
        options: keys,
        default: keys[0] ?? '',
        when: { operation: several },
      }),
    }),
    ...(deleting.length > 0 && {
      deletes: boolean({
        label: 'Mirror deletes people',
        description: 'Whether a mirror deletes the people at the platform who left the source',
        when: { operation: deleting },
      }),
    }),
  }
}
