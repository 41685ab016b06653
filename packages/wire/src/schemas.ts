import { type Static, type TSchema, Type } from 'typebox'
import { example } from './examples.ts'
import { limits } from './limits.ts'
import {
  connectionStatuses,
  dataTypeCategories,
  dataTypes,
  fieldTypes,
  platformTypes,
  supportedTypes,
} from './terms.ts'

/**
 * The resources of the specification, section 2, key for key.
 * One schema gives the TypeScript type, the validation, the serialisation, the OpenAPI document and the client.
 */

/** An object with exactly these keys. */
const exactly = <P extends Record<string, TSchema>>(
  properties: P,
  about: { description: string; examples?: readonly unknown[] },
) => Type.Object(properties, { additionalProperties: false, ...about })

/** 16 lowercase hexadecimal characters. */
export const identifierPattern = '^[0-9a-f]{16}$'
export const Identifier = Type.String({
  pattern: identifierPattern,
  description: 'Identifier: 16 lowercase hexadecimal characters',
  examples: [example.accountId],
})
/** The identifier of something. */
export const identifier = (of: string, example: string) =>
  Type.String({
    pattern: identifierPattern,
    description: `Identifier of ${of}: 16 lowercase hexadecimal characters`,
    examples: [example],
  })

/** One of a closed set of texts. */
export const oneOf = <const V extends readonly string[]>(
  values: V,
  about: { description: string; examples: string[] },
) => Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...about })

const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })
const unixSeconds = (description: string, moment: number = example.updatedTime) =>
  Type.Integer({ minimum: 0, description: `${description}, Unix time in seconds`, examples: [moment] })
const flag = (description: string, example = true) => Type.Boolean({ description, examples: [example] })
const text = (description: string, example: string) => Type.String({ description, examples: [example] })

/** The control characters, spelt out: not every reader of the OpenAPI document knows `\p{Cc}` in a pattern. */
const control = '\\u0000-\\u001f\\u007f-\\u009f'

/** Pattern of a text that has 1 to `lengthMax` characters once trimmed, and no control characters. */
const trimmed = (lengthMax: number) =>
  `^\\s*[^${control}\\s](?:[^${control}]{0,${lengthMax - 2}}[^${control}\\s])?\\s*$`

/** A name that people read: control characters never, blank never; trimmed before it is stored. */
const name = (example: string) =>
  Type.String({
    pattern: trimmed(limits.nameLengthMax),
    description: 'Name, 1 to 200 characters after trimming, no control characters',
    examples: [example],
  })
export const Name = name('Spring customers')

/** Section 2.2. The one reply without an envelope. */
export const Token = exactly(
  {
    accessToken: text('Bearer token value', 'pst_Yx0nq2…'),
    tokenType: Type.Literal('Bearer', { description: 'Kind of token', examples: ['Bearer'] }),
    expiry: Type.Integer({
      minimum: 1,
      description: 'Lifetime in seconds',
      examples: [limits.tokenLifetimeSecondsDefault],
    }),
  },
  { description: 'Access token' },
)
export type Token = Static<typeof Token>

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
  configured: flag('Whether the connector has been configured in the sub-account'),
  description: text(
    'What the connector does',
    'Builds audiences on Facebook and Instagram from your customer records and keeps their members current.',
  ),
  destConnections: count('Connections, not deleted, that use it as destination', 2),
  srcConnections: count('Connections, not deleted, that use it as source', 0),
}
const editable = flag('Whether it can be changed in this environment')
const env = text('Name of the environment that it was made in', 'production')

/** Section 2.3. */
export const Connector = exactly(
  {
    ...connectorIdentity,
    integrated: flag('Whether this deployment can move data through the connector', false),
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

/** Section 2.5, first list. */
export const AddedConnector = exactly(
  { ...connectorIdentity, ...usage, editable, env, transfer },
  { description: 'Connector added to a sub-account' },
)
export type AddedConnector = Static<typeof AddedConnector>

/** Section 2.5, second list. */
export const SupportedConnector = exactly(
  { ...connectorIdentity, ...usage, transfer },
  { description: 'Connector that fits another one' },
)
export type SupportedConnector = Static<typeof SupportedConnector>

/** Section 2.6: a field definition inside a group. Bounds are there for numbers, options for choices. */
export const Field = Type.Object(
  {
    name: text('Key of the field in a configuration object', 'accessToken'),
    label: text('Display label', 'Access token'),
    description: text('Help text', 'Token of a system user with the ads_management permission'),
    type: oneOf(fieldTypes, { description: 'Kind of field; a Password is a secret', examples: ['Password'] }),
    required: flag('Whether a value is needed, given the values that are there now'),
    readonly: flag('Whether the field is filled by the service alone', false),
    min: Type.Optional(Type.Integer({ description: 'Lowest accepted value of a Number', examples: [1] })),
    max: Type.Optional(Type.Integer({ description: 'Highest accepted value of a Number', examples: [540] })),
    options: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Choices of a Select or Multi-Select',
        examples: [['oauth2', 'api-token']],
      }),
    ),
    value: text('Current value; empty while unset. A secret that is set reads ********', '********'),
  },
  { additionalProperties: false, description: 'Field definition', examples: [example.secretFields[1]] },
)
export type Field = Static<typeof Field>

export const SecretName = Type.String({
  pattern: trimmed(limits.secretNameLengthMax),
  description: 'Name of the secret key in the secret store, 1 to 200 characters after trimming, no control characters',
  examples: [example.secretName],
})
const secretName = text('Name of the secret key in the secret store', example.secretName)
const configurationId = identifier('the configuration', example.destination.configurationId)
const lastUpdated = unixSeconds('When the configuration was last saved (0: never)')

export const ConfigurationGroup = exactly(
  {
    configurationId,
    name: text('Name of the configuration', 'Default'),
    secretName,
    configured: usage.configured,
    lastUpdated,
    configuration: Type.Array(Field, { description: 'Field definitions', examples: [example.secretFields] }),
  },
  { description: 'Group of configuration fields' },
)
export type ConfigurationGroup = Static<typeof ConfigurationGroup>

/** Section 2.6. */
export const ConnectorConfiguration = exactly(
  {
    secretConfig: Type.Array(ConfigurationGroup, { description: 'Configuration of the connector; one group' }),
    connectionConfig: Type.Array(ConfigurationGroup, {
      description: 'Settings that each connection makes for itself; one group for each role',
      examples: [
        [
          {
            configurationId: example.destination.configurationId,
            name: 'Destination',
            secretName: example.secretName,
            configured: true,
            lastUpdated: example.updatedTime,
            configuration: example.connectionFields,
          },
        ],
      ],
    }),
    editable,
    env,
    configured: usage.configured,
    lastUpdated,
    secretName,
  },
  { description: 'Configuration of a connector in a sub-account' },
)
export type ConnectorConfiguration = Static<typeof ConnectorConfiguration>

/** What Configure Connector answers. */
export const SavedConfiguration = exactly(
  {
    configurationId,
    name: text('Name of the configuration', 'Default'),
    secretName,
    configured: usage.configured,
    lastUpdated,
  },
  { description: 'Saved configuration' },
)
export type SavedConfiguration = Static<typeof SavedConfiguration>

/**
 * Values of a configuration as a caller sends them; which keys and types a connector takes is its own definition's word.
 * `null` clears. `length` bounds one text value.
 */
const configuration = (lengthMax: number, description: string, example: Record<string, unknown>) =>
  Type.Record(
    Type.String({ pattern: `^[A-Za-z0-9_]{1,${limits.fieldKeyLengthMax}}$` }),
    Type.Union([
      Type.String({ maxLength: lengthMax }),
      Type.Number(),
      Type.Boolean(),
      Type.Null(),
      Type.Array(Type.String({ maxLength: lengthMax }), { maxItems: limits.selectedOptionsMax }),
    ]),
    {
      additionalProperties: false,
      maxProperties: limits.configurationFieldsMax,
      description,
      examples: [example],
    },
  )

const connectionConfig = (ofEnd: string, settings: Record<string, unknown>) =>
  configuration(limits.textLengthMax, `Settings of ${ofEnd} of the connection, by field`, settings)
export const ConnectionConfig = connectionConfig('one end', example.destination.settings)
export type ConnectionConfig = Static<typeof ConnectionConfig>
const connectionConfigs = {
  srcConnectionConfig: connectionConfig('the source end', example.source.settings),
  destConnectionConfig: connectionConfig('the destination end', example.destination.settings),
}

export const Configure = exactly(
  {
    name: Type.Optional(name('Default')),
    secretConfig: configuration(
      limits.secretLengthMax,
      'Values by field. Keys given replace, keys left out stay, null clears, ******** keeps the secret that is there',
      { authType: 'api-token', accessToken: 'EAAB…' },
    ),
    configurationId: Type.Optional(configurationId),
    secretName: Type.Optional(SecretName),
  },
  {
    description: 'Configuration to save',
    examples: [{ secretConfig: { authType: 'api-token', accessToken: 'EAAB…' } }],
  },
)

const accountFields = {
  id: identifier('the sub-account', example.accountId),
  name: text('Account name', 'Acme Outdoor'),
  enabled: flag('Whether the account is enabled; no transfer starts in one that is not'),
  connections: Type.String({
    pattern: '^[0-9]+$',
    description: 'Number of connections that are not deleted, as a decimal string',
    examples: ['12'],
  }),
  createdTime: unixSeconds('When it was created', example.createdTime),
  updatedTime: unixSeconds('When it last changed'),
  env: exactly(
    {
      host: text('Host of the environment', '127.0.0.1:8080'),
      id: identifier('the environment', example.environmentId),
      name: text('Name of the environment', 'production'),
    },
    { description: 'Environment that the account was made in' },
  ),
  userId: identifier('the owner', example.ownerId),
}
const volume = count('Records delivered by the account’s connections, all time', 120_000)

/** Section 2.7, single account. */
export const Account = exactly(
  { ...accountFields, userEmail: text('E-mail address of the owner', 'owner@example.com'), volume },
  { description: 'Sub-account' },
)
export type Account = Static<typeof Account>

/** Section 2.7, entry of the list. */
export const AccountEntry = exactly({ ...accountFields, volume }, { description: 'Entry of the list of sub-accounts' })
export type AccountEntry = Static<typeof AccountEntry>

export const AddAccount = exactly(
  { name: name('Acme Outdoor'), enabled: Type.Optional(accountFields.enabled) },
  { description: 'Sub-account to create' },
)
export const EditAccount = Type.Object(
  { name: Type.Optional(name('Acme Outdoor')), enabled: Type.Optional(accountFields.enabled) },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'What to change of the sub-account; at least one of both',
  },
)

const end = (description: string, { connectorId, logo, name }: { connectorId: string; logo: string; name: string }) =>
  exactly(
    {
      configured: usage.configured,
      connectorId: identifier('the connector', connectorId),
      connectorLogo: text('Address of the platform’s logo', logo),
      connectorName: text('Connector name', name),
    },
    { description },
  )
const connectionFields = {
  id: identifier('the connection', example.connectionId),
  accountId: identifier('the sub-account', example.accountId),
  name: text('Connection name', 'Spring customers'),
  createdTime: unixSeconds('When it was created', example.createdTime),
  updatedTime: unixSeconds('When it last changed'),
  deleted: flag('Whether the connection is deleted', false),
  editable,
  enabled: flag('Whether the connection is enabled'),
  env,
  status: oneOf(connectionStatuses, {
    description: 'Where the connection is in its lifecycle',
    examples: ['active'],
  }),
  monthlyVolume: count('Records delivered in this calendar month, UTC', 40_000),
  totalVolume: count('Records read from the source, all time', 121_000),
  usedVolume: count('Records delivered, all time', 120_000),
  src: end('Source end', example.source),
  dest: end('Destination end', example.destination),
}

const connectorIds = {
  srcConnectorId: identifier('the source connector', example.source.connectorId),
  destConnectorId: identifier('the destination connector', example.destination.connectorId),
}
const configurationIds = {
  srcConfigurationId: identifier('the source’s configuration', example.source.configurationId),
  destConfigurationId: identifier('the destination’s configuration', example.destination.configurationId),
}

/** Section 2.8. */
export const Connection = exactly(connectionFields, { description: 'Connection' })
export type Connection = Static<typeof Connection>

/** Section 2.8 with the parameters, as Get Connection Details answers it (section 4.4). */
export const ConnectionDetails = exactly(
  { ...connectionFields, ...configurationIds, ...connectionConfigs },
  { description: 'Connection with its parameters' },
)
export type ConnectionDetails = Static<typeof ConnectionDetails>

export const CreateConnection = exactly(
  {
    name: Name,
    ...connectorIds,
    srcConfigurationId: Type.Optional(configurationIds.srcConfigurationId),
    destConfigurationId: Type.Optional(configurationIds.destConfigurationId),
    srcConnectionConfig: Type.Optional(connectionConfigs.srcConnectionConfig),
    destConnectionConfig: Type.Optional(connectionConfigs.destConnectionConfig),
  },
  { description: 'Connection to create' },
)
export const UpdateConnection = exactly(
  {
    id: Type.Optional(connectionFields.id),
    name: Type.Optional(Name),
    srcConnectorId: Type.Optional(connectorIds.srcConnectorId),
    destConnectorId: Type.Optional(connectorIds.destConnectorId),
    srcConnectionConfig: Type.Optional(connectionConfigs.srcConnectionConfig),
    destConnectionConfig: Type.Optional(connectionConfigs.destConnectionConfig),
  },
  {
    description: 'What to change of the connection',
    examples: [{ name: 'Spring customers', destConnectionConfig: example.destination.settings }],
  },
)

/** What Update Connection answers (section 4.4). */
export const UpdatedConnection = exactly(
  {
    id: connectionFields.id,
    name: connectionFields.name,
    ...connectionConfigs,
  },
  { description: 'Name and settings of a connection' },
)
export type UpdatedConnection = Static<typeof UpdatedConnection>

/** What every refusal carries in the envelope's `response`. */
export const Refused = exactly(
  {
    error: text('Code from docs/errors.md', 'invalid_request'),
    requestId: text('Identifier of this request in the service’s log', example.requestId),
    details: Type.Array(
      exactly(
        { field: text('Where the fault is', 'body.name'), message: text('What to do about it', 'must not be blank') },
        { description: 'Fault' },
      ),
      { description: 'Every fault of the request; empty where no field is at fault' },
    ),
  },
  { description: 'Refusal' },
)
export type Refused = Static<typeof Refused>

/** Section 2.1: the envelope around a payload. */
export const envelope = <S extends TSchema>(response: S, shown = { statusCode: 200, statusMessage: 'OK' }) =>
  exactly(
    {
      statusCode: Type.Integer({
        description: 'Outcome of the call; equals the HTTP status',
        examples: [shown.statusCode],
      }),
      statusMessage: text('The outcome in words', shown.statusMessage),
      response,
    },
    { description: 'Envelope' },
  )
