import { limits } from '../limits.ts'
import { discoveredKinds, roles } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { ConnectionConfig } from './connection.ts'
import { exactly, flag, oneOf, text, unixSeconds, viewId } from './kinds.ts'

/** Values of settings, as the platform lists them (not in the specification). */

const maybe = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) => Type.Union([schema, Type.Null()])

/** Request of Discover Values. */
export const DiscoverValues = exactly(
  {
    field: Type.String({
      pattern: `^[A-Za-z0-9_]{1,${limits.fieldKeyLengthMax}}$`,
      description:
        'The setting whose values to list, or `columns`: one of `discover` of the role, in the definition of the connector',
      examples: ['table'],
    }),
    role: Type.Optional(
      oneOf(roles, {
        description: 'The role of the setting; required if both roles of the connector have the setting',
        examples: ['Source'],
      }),
    ),
    settings: Type.Optional(
      Type.Unsafe<ConnectionConfig>({
        ...ConnectionConfig,
        description: 'Known settings of the connection, such as the schema whose tables to list',
      }),
    ),
    view: viewId,
    q: Type.Optional(
      Type.String({
        maxLength: limits.discoverySearchLengthMax,
        description: 'Keeps values whose names contain this text, in any letter case',
        examples: ['cust'],
      }),
    ),
    size: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.discoverySizeMax,
        default: limits.discoverySizeDefault,
        description: 'The most values',
        examples: [50],
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: limits.discoveryCursorLengthMax,
        description: '`next` of the previous page, with the same other values',
        examples: ['50'],
      }),
    ),
    fresh: Type.Optional(flag('Asks the platform again, even if the answer of the last two minutes is cached', true)),
  },
  { description: 'Values to discover', examples: [{ field: 'table', role: 'Source', settings: { schema: 'public' } }] },
)
export type DiscoverValues = Static<typeof DiscoverValues>

/** Response of Discover Values. */
export const Discovery = exactly(
  {
    items: Type.Array(
      exactly(
        {
          value: text('The value of the setting', 'customers'),
          label: maybe(text('The displayed name, if it is not the value', 'Acme Outdoor EU')),
          kind: oneOf(discoveredKinds, { description: 'The kind of the value', examples: ['table'] }),
          type: maybe(text('The type of a column, in the words of the platform', 'text')),
          key: maybe(flag('Whether a column is part of the key', false)),
          required: maybe(flag('Whether a record needs a value for the column', false)),
          rows: maybe(Type.Integer({ minimum: 0, description: 'Approximate number of records', examples: [120_000] })),
          samples: Type.Optional(
            Type.Array(text('Value; a mask without a `view` if it can identify a person', 'Berlin'), {
              maxItems: limits.discoverySamplesMax,
              description:
                'Different values of a column of a source, shortened as in a preview. Absent without the scope `records:read`, and if no values could be read cheaply',
            }),
          ),
        },
        { description: 'Value that a setting can have' },
      ),
    ),
    next: maybe(text('`cursor` of the next page; null at the end', '50')),
    discoveredTime: unixSeconds('When the platform was asked'),
  },
  { description: 'Discovered values' },
)
export type Discovery = Static<typeof Discovery>
