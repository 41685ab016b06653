import { type Static, type TSchema, Type } from 'typebox'
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
const exactly = <P extends Record<string, TSchema>>(properties: P, about: { description: string }) =>
  Type.Object(properties, { additionalProperties: false, ...about })

/** 16 lowercase hexadecimal characters. */
export const identifierPattern = '^[0-9a-f]{16}$'
export const Identifier = Type.String({
  pattern: identifierPattern,
  description: 'Identifier: 16 lowercase hexadecimal characters',
  examples: ['3f9c2b7a10d4e856'],
})

/** One of a closed set of texts. */
export const oneOf = <const V extends readonly string[]>(
  values: V,
  about: { description: string; examples: string[] },
) => Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...about })

const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })
const unixSeconds = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}, Unix time in seconds`, examples: [1789776000] })
const flag = (description: string) => Type.Boolean({ description })
const text = (description: string, example: string) => Type.String({ description, examples: [example] })

/** Pattern of a text that has 1 to `lengthMax` characters once trimmed, and no control characters. */
const trimmed = (lengthMax: number) => `^\\s*[^\\p{Cc}\\s](?:[^\\p{Cc}]{0,${lengthMax - 2}}[^\\p{Cc}\\s])?\\s*$`

/** A name that people read: control characters never, blank never; trimmed before it is stored. */
export const Name = Type.String({
  pattern: trimmed(limits.nameLengthMax),
  description: 'Name, 1 to 200 characters after trimming, no control characters',
  examples: ['Spring customers'],
})

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
  connectorId: Identifier,
  dataType: oneOf(dataTypes, { description: 'Kind of data', examples: ['Custom Audiences'] }),
  dataTypeCategory: oneOf(dataTypeCategories, {
    description: 'Category of the data type',
    examples: ['audience activation'],
  }),
  platformId: Identifier,
  name: text('Connector name', 'Meta Custom Audiences'),
  platformType: oneOf(platformTypes, { description: 'Kind of platform', examples: ['Social Media Platform'] }),
  supportedType: oneOf(supportedTypes, {
    description: 'Role in a connection; a connector with both roles lists them',
    examples: ['Destination'],
  }),
}
const transfer = flag('Whether a transfer can be started with this connector')
const usage = {
  configured: flag('Whether the connector has been configured in the sub-account'),
  description: text('What the connector does', 'Keeps a customer list in step with your own.'),
  destConnections: count('Connections, not deleted, that use it as destination', 2),
  srcConnections: count('Connections, not deleted, that use it as source', 0),
}
const editable = flag('Whether it can be changed in this environment')
const env = text('Name of the environment that it was made in', 'production')

/** Section 2.3. */
export const Connector = exactly(
  {
    ...connectorIdentity,
    integrated: flag('Whether this deployment can move data through the connector'),
    logo: text('Address of the platform’s logo', 'http://127.0.0.1:8080/logos/meta-ads.svg'),
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
    readonly: flag('Whether the field is filled by the service alone'),
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
  { additionalProperties: false, description: 'Field definition' },
)
export type Field = Static<typeof Field>

const SecretName = Type.String({
  pattern: trimmed(limits.secretNameLengthMax),
  description: 'Name of the secret key in the secret store, 1 to 200 characters after trimming, no control characters',
  examples: ['meta-custom-audiences/3f9c2b7a10d4e856'],
})
const lastUpdated = unixSeconds('When the configuration was last saved (0: never)')

export const ConfigurationGroup = exactly(
  {
    configurationId: Identifier,
    name: text('Name of the configuration', 'Default'),
    secretName: text('Name of the secret key in the secret store', 'meta-custom-audiences/3f9c2b7a10d4e856'),
    configured: usage.configured,
    lastUpdated,
    configuration: Type.Array(Field, { description: 'Field definitions' }),
  },
  { description: 'Group of configuration fields' },
)
export type ConfigurationGroup = Static<typeof ConfigurationGroup>

/** Section 2.6. */
export const ConnectorConfiguration = exactly(
  {
    secretConfig: Type.Array(ConfigurationGroup, { description: 'Configuration of the connector; one group' }),
    connectionConfig: Type.Array(ConfigurationGroup, { description: 'Settings that each connection makes for itself' }),
    editable,
    env,
    configured: usage.configured,
    lastUpdated,
    secretName: text('Name of the secret key in the secret store', 'meta-custom-audiences/3f9c2b7a10d4e856'),
  },
  { description: 'Configuration of a connector in a sub-account' },
)
export type ConnectorConfiguration = Static<typeof ConnectorConfiguration>

/** What Configure Connector answers. */
export const SavedConfiguration = exactly(
  {
    configurationId: Identifier,
    name: text('Name of the configuration', 'Default'),
    secretName: text('Name of the secret key in the secret store', 'meta-custom-audiences/3f9c2b7a10d4e856'),
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
    Type.String({ minLength: 1, maxLength: limits.fieldKeyLengthMax }),
    Type.Union([
      Type.String({ maxLength: lengthMax }),
      Type.Number(),
      Type.Boolean(),
      Type.Null(),
      Type.Array(Type.String({ maxLength: lengthMax }), { maxItems: limits.selectedOptionsMax }),
    ]),
    { maxProperties: limits.configurationFieldsMax, description, examples: [example] },
  )

export const ConnectionConfig = configuration(limits.textLengthMax, 'Settings of one end of the connection, by field', {
  advertiserId: '1234567890',
})
export type ConnectionConfig = Static<typeof ConnectionConfig>

export const Configure = exactly(
  {
    name: Type.Optional(Name),
    secretConfig: configuration(
      limits.secretLengthMax,
      'Values by field. Keys given replace, keys left out stay, null clears, ******** keeps the secret that is there',
      { accessToken: 'EAAB…' },
    ),
    configurationId: Type.Optional(Identifier),
    secretName: Type.Optional(SecretName),
  },
  { description: 'Configuration to save' },
)

const accountFields = {
  id: Identifier,
  name: text('Account name', 'Acme Outdoor'),
  enabled: flag('Whether the account is enabled; no transfer starts in one that is not'),
  connections: Type.String({
    pattern: '^[0-9]+$',
    description: 'Number of connections that are not deleted, as a decimal string',
    examples: ['12'],
  }),
  createdTime: unixSeconds('When it was created'),
  updatedTime: unixSeconds('When it last changed'),
  env: exactly(
    {
      host: text('Host of the environment', '127.0.0.1:8080'),
      id: Identifier,
      name: text('Name of the environment', 'production'),
    },
    { description: 'Environment that the account was made in' },
  ),
  userId: Identifier,
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
  { name: Name, enabled: Type.Optional(accountFields.enabled) },
  { description: 'Sub-account to create' },
)
export const EditAccount = Type.Object(
  { name: Type.Optional(Name), enabled: Type.Optional(accountFields.enabled) },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'What to change of the sub-account; at least one of both',
  },
)

const end = (description: string) =>
  exactly(
    {
      configured: usage.configured,
      connectorId: Identifier,
      connectorLogo: text('Address of the platform’s logo', 'http://127.0.0.1:8080/logos/amazon-s3.svg'),
      connectorName: text('Connector name', 'Amazon S3 Source'),
    },
    { description },
  )
const connectionFields = {
  id: Identifier,
  accountId: Identifier,
  name: text('Connection name', 'Customers to Meta'),
  createdTime: unixSeconds('When it was created'),
  updatedTime: unixSeconds('When it last changed'),
  deleted: flag('Whether the connection is deleted'),
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
  src: end('Source end'),
  dest: end('Destination end'),
}

/** Section 2.8. */
export const Connection = exactly(connectionFields, { description: 'Connection' })
export type Connection = Static<typeof Connection>

/** Section 2.8 with the parameters, as Get Connection Details answers it (section 4.4). */
export const ConnectionDetails = exactly(
  {
    ...connectionFields,
    srcConfigurationId: Identifier,
    destConfigurationId: Identifier,
    srcConnectionConfig: ConnectionConfig,
    destConnectionConfig: ConnectionConfig,
  },
  { description: 'Connection with its parameters' },
)
export type ConnectionDetails = Static<typeof ConnectionDetails>

export const CreateConnection = exactly(
  {
    name: Name,
    srcConnectorId: Identifier,
    destConnectorId: Identifier,
    srcConfigurationId: Type.Optional(Identifier),
    destConfigurationId: Type.Optional(Identifier),
    srcConnectionConfig: Type.Optional(ConnectionConfig),
    destConnectionConfig: Type.Optional(ConnectionConfig),
  },
  { description: 'Connection to create' },
)
export const UpdateConnection = exactly(
  {
    id: Type.Optional(Identifier),
    name: Type.Optional(Name),
    srcConnectorId: Type.Optional(Identifier),
    destConnectorId: Type.Optional(Identifier),
    srcConnectionConfig: Type.Optional(ConnectionConfig),
    destConnectionConfig: Type.Optional(ConnectionConfig),
  },
  { description: 'What to change of the connection' },
)

/** What Update Connection answers (section 4.4). */
export const UpdatedConnection = exactly(
  {
    id: Identifier,
    name: connectionFields.name,
    srcConnectionConfig: ConnectionConfig,
    destConnectionConfig: ConnectionConfig,
  },
  { description: 'Name and settings of a connection' },
)
export type UpdatedConnection = Static<typeof UpdatedConnection>

/** What every refusal carries in the envelope's `response`. */
export const Refused = exactly(
  {
    error: text('Code from docs/errors.md', 'invalid_request'),
    requestId: text('Identifier of this request in the service’s log', 'b6f0c1d29e8a4753'),
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
export const envelope = <S extends TSchema>(response: S) =>
  exactly(
    {
      statusCode: Type.Integer({ description: 'Outcome of the call; equals the HTTP status', examples: [200] }),
      statusMessage: text('The outcome in words', 'OK'),
      response,
    },
    { description: 'Envelope' },
  )
