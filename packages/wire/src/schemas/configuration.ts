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
    required: flag('Whether a value is needed, given the values that are there now'),
    readonly: flag('Whether the field is filled by the service alone', false),
    min: Type.Optional(Type.Integer({ description: 'Lowest accepted value of a Number', examples: [1] })),
    max: Type.Optional(
      Type.Integer({
        description: 'Highest accepted value of a Number, or most characters of a Text',
        examples: [540],
      }),
    ),
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

const first = flag('Whether it is the first one, which is used if no configuration is named')

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

/** Entry of the list of configurations, ours: what a sub-account saved, as its own keys take it, without any secret. */
export const SavedValues = exactly(
  {
    accountId: identifier('the sub-account', example.accountId),
    connectorId: identifier('the connector', example.destination.connectorId),
    slug: text('Name of the connector that is the same in every deployment and version', 'meta-custom-audiences'),
    ...savedConfiguration,
    first,
    settings: configuration(limits.secretLengthMax, 'Values that are set and are no secrets, by field', {
      authType: 'api-token',
    }),
    secrets: Type.Array(Type.String(), {
      description: 'Fields whose secrets are set; the values are never returned',
      examples: [['accessToken']],
    }),
    authorized: flag('Whether the connector works with what a user granted with a click', false),
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

/** Body of Create a Configuration, ours. */
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
    supported: flag('Whether a user of the platform can grant the connector access with a click'),
    available: flag('Whether the operator registered an app with the platform, which that needs'),
    authorized: flag(
      'Whether the connector works with what a user granted this way, not with credentials that were entered',
    ),
    attempt: Type.Union(
      [
        oneOf(authorizationAttempts, {
          description:
            'pending: it has not ended. declined: the user did not grant access at the platform. failed: the platform or Penstock refused it; the page that the user was shown says why',
          examples: ['declined'],
        }),
        Type.Null(),
      ],
      {
        description: `What became of the last authorization that you started, for ${limits.authorizationMinutes} minutes; null: there is none, or it granted access`,
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
      'Where to send the browser of the person who consents; it can be opened once',
      'http://127.0.0.1:8080/oauth/authorize/3Nn1Tz0P2Zl9l4cQmVtW7yq5dXfJrA8sKe6uGhBoIxw',
    ),
    expiresTime: unixSeconds('Until when the authorization can be completed'),
  },
  { description: 'Link of an authorization' },
)
export type AuthorizationLink = Static<typeof AuthorizationLink>
