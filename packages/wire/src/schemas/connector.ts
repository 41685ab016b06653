import { example } from '../examples.ts'
import { platformKinds } from '../known-connectors.ts'
import { limits } from '../limits.ts'
import { dataTypeCategories, dataTypes, platformTypes, supportedTypes } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { configured, count, editable, env, exactly, flag, identifier, oneOf, text } from './kinds.ts'

const connectorIdentity = {
  connectorId: identifier('the connector', example.destination.connectorId),
  dataType: oneOf(dataTypes, { description: 'Kind of data', examples: ['Custom Audiences'] }),
  dataTypeCategory: oneOf(dataTypeCategories, {
    description: 'Category of the data type',
    examples: ['audience activation'],
  }),
  platformId: identifier('the platform', example.platformId),
  name: text('Connector name', example.destination.name),
  platformType: oneOf(platformTypes, { description: 'Kind of platform', examples: ['Social Media Platform'] }),
  supportedType: oneOf(supportedTypes, {
    description: 'Role in a connection; a connector with both roles lists them',
    examples: ['Destination'],
  }),
}
const transfer = flag('Whether a transfer can be started with this connector', false)
const usage = {
  configured,
  description: text(
    'What the connector does',
    'Creates audiences on Facebook and Instagram from your customer records and keeps their members up to date.',
  ),
  destConnections: count('Number of connections, without deleted ones, that use it as destination', 2),
  srcConnections: count('Number of connections, without deleted ones, that use it as source', 0),
}

/** Section 2.3. */
export const Connector = exactly(
  {
    ...connectorIdentity,
    integrated: flag(
      'Whether this deployment can move data through the connector, in at least one of its roles; see its definition',
      false,
    ),
    logo: text('Address of the platform’s logo', example.destination.logo),
    docUrl: text(
      'Address of the connector’s documentation',
      'http://127.0.0.1:8080/docs/connectors/meta-custom-audiences',
    ),
    overviewUrl: text('Address of the platform’s overview', 'http://127.0.0.1:8080/docs/platforms/meta-ads'),
    status: Type.Integer({ minimum: 0, maximum: 2, description: '1 available, 2 preview, 0 withdrawn', examples: [1] }),
  },
  { description: 'Connector' },
)
export type Connector = Static<typeof Connector>

/** Section 2.4. */
export const CatalogueEntry = exactly(
  { ...connectorIdentity, transfer },
  { description: 'Entry of the connector catalogue' },
)
export type CatalogueEntry = Static<typeof CatalogueEntry>

/** The words for a connector of the catalogue. Not in the specification. */
export const ConnectorWords = exactly(
  {
    connectorId: identifier('the connector', example.destination.connectorId),
    platform: text('Name of the platform', 'Meta Ads'),
    kind: Type.Union(
      [oneOf(platformKinds, { description: 'Kind of platform', examples: ['advertising platform'] }), Type.Null()],
      {
        description:
          'Common kind of the platform; null for a platform of a connector that the operator added. `platformType` is the term of the specification',
        examples: ['advertising platform'],
      },
    ),
    alsoCalled: Type.Array(Type.String(), {
      description: 'Other words with which people search for the platform, in lower case',
      examples: [['facebook', 'instagram', 'fb']],
    }),
  },
  { description: 'Words for a connector of the catalogue' },
)
export type ConnectorWords = Static<typeof ConnectorWords>

/** Section 2.5, first list. */
export const AddedConnector = exactly(
  { ...connectorIdentity, ...usage, editable, env, transfer },
  { description: 'Connector added to a sub-account' },
)
export type AddedConnector = Static<typeof AddedConnector>

/** Section 2.5, second list. */
export const SupportedConnector = exactly(
  { ...connectorIdentity, ...usage, transfer },
  { description: 'Compatible connector' },
)
export type SupportedConnector = Static<typeof SupportedConnector>

/** Request of Add Connector. */
export const AddConnectors = exactly(
  {
    connectorIds: Type.Array(identifier('a connector', example.destination.connectorId), {
      minItems: 1,
      maxItems: limits.connectorIdsMax,
      description: 'Connectors of the catalogue; all are added, or none',
    }),
  },
  { description: 'Connectors to add' },
)
