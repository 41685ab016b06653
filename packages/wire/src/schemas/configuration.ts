import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { authorizationAttempts, fieldTypes } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import {
  configuration,
  configured,
  editable,
  env,
  etag,
  exactly,
  flag,
  identifier,
  name,
  oneOf,
  secret,
  text,
  trimmed,
  unixSeconds,
} from './kinds.ts'

/** Section 2.6: a field definition inside a group. Bounds are there for numbers, options for choices. */
export const Field = Type.Object(
  {
    name: text('Key of the field in a configuration object', 'accessToken'),
    label: text('Display label', 'Access token'),
    description: text('Help text', 'Token of a system user with the ads_management permission'),
    type: oneOf(fieldTypes, { description: 'Kind of field; a Password is a secret', examples: ['Password'] }),
    required: flag('Whether a value is required with the current values'),
    readonly: flag('Whether only the service fills the field', false),
    min: Type.Optional(Type.Integer({ description: 'Lowest accepted value of a Number', examples: [1] })),
    max: Type.Optional(
      Type.Integer({
        description: 'Highest accepted value of a Number, or maximum characters of a Text',
        examples: [540],
      }),
    ),
    options: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Choices of a Select or Multi-Select',
        examples: [['oauth2', 'api-token']],
      }),
    ),
    value: text(
      'Current value; empty while unset. A secret that is set reads ********, or is shown as its reference to a secret manager',
      '********',
    ),
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

const first = flag('Whether it is the first configuration, which is used if no configuration is named')

const savedConfiguration = {
  configurationId,
  name: text('Name of the configuration', 'Default'),
  secretName,
  configured,
  lastUpdated,
}

export const ConfigurationGroup = exactly(
  {
    ...savedConfiguration,
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
      description: 'Settings of each connection; one group for each role',
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
    configured,
    lastUpdated,
    secretName,
  },
  { description: 'Configuration of a connector in a sub-account' },
)
export type ConnectorConfiguration = Static<typeof ConnectorConfiguration>

/** Entry of the list of configurations (not in the specification): the saved values of a sub-account by field, without secrets. */
export const SavedValues = exactly(
  {
    accountId: identifier('the sub-account', example.accountId),
    connectorId: identifier('the connector', example.destination.connectorId),
    slug: text('Name of the connector, the same in every deployment and version', 'meta-custom-audiences'),
    ...savedConfiguration,
    first,
    settings: configuration(limits.secretLengthMax, 'Saved values by field, without secrets', {
      authType: 'api-token',
    }),
    secrets: Type.Array(Type.String(), {
      description: 'Fields whose secrets are set; the values are never returned',
      examples: [['accessToken']],
    }),
    references: Type.Record(Type.String(), Type.String(), {
      description: 'References to a secret manager, by the fields of the secrets that they name',
      examples: [{ accessToken: 'secret://vault/penstock/ads#token' }],
    }),
    authorized: flag('Whether the connector uses an authorization with a click', false),
    editable,
    env,
    etag: etag('configuration'),
  },
  { description: 'A configuration of an added connector, without secrets' },
)
export type SavedValues = Static<typeof SavedValues>

/** Response of Configure Connector. */
export const SavedConfiguration = exactly(savedConfiguration, { description: 'Saved configuration' })
export type SavedConfiguration = Static<typeof SavedConfiguration>

export const Configure = exactly(
  {
    name: Type.Optional(name('Default')),
    secretConfig: configuration(
      limits.secretLengthMax,
      'Values by field. Given keys replace saved values, omitted keys are kept, null clears, ******** keeps the secret. Secrets can be references: secret://vault/ads#token',
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

/** Body of Create a Configuration (not in the specification). */
export const CreateConfiguration = exactly(
  {
    name: name('Staging'),
    secretConfig: Type.Optional(
      configuration(
        limits.secretLengthMax,
        'Values by field; omitted: the configuration is not configured yet, and is saved or authorized later',
        { authType: 'api-token', accessToken: 'EAAB…' },
      ),
    ),
    secretName: Type.Optional(SecretName),
  },
  {
    description: 'Another configuration of a connector',
    examples: [{ name: 'Staging', secretConfig: { authType: 'api-token', accessToken: 'EAAB…' } }],
  },
)

/** Response of Get Connector Authorization. */
export const ConnectorAuthorization = exactly(
  {
    supported: flag('Whether a user of the platform can authorize the connector with a click'),
    available: flag('Whether the operator registered the required app with the platform'),
    authorized: flag('Whether the connector uses such an authorization, not entered credentials'),
    attempt: Type.Union(
      [
        oneOf(authorizationAttempts, {
          description:
            'pending: it has not ended. declined: the user did not grant access at the platform. failed: the platform or Penstock refused it; the user saw the reason',
          examples: ['declined'],
        }),
        Type.Null(),
      ],
      {
        description: `Status of the last authorization that you started, for ${limits.authorizationMinutes} minutes; null: no authorization, or access was granted`,
      },
    ),
  },
  { description: 'Authorization of a connector in a sub-account' },
)
export type ConnectorAuthorization = Static<typeof ConnectorAuthorization>

/** Response of Authorize Connector. */
export const AuthorizationLink = exactly(
  {
    url: secret(
      'Link for the browser of the person who consents; it can be opened once',
      'http://127.0.0.1:8080/oauth/authorize/3Nn1Tz0P2Zl9l4cQmVtW7yq5dXfJrA8sKe6uGhBoIxw',
    ),
    expiresTime: unixSeconds('Time until which the authorization can be completed'),
  },
  { description: 'Link of an authorization' },
)
export type AuthorizationLink = Static<typeof AuthorizationLink>
