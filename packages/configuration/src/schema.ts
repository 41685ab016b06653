import {
  AddAccount,
  Configure,
  CreateAlertRule,
  CreateConnection,
  CreateWebhook,
  limits,
  SetSchedule,
} from '@penstock/wire'

/**
 * The JSON Schema of the files. Names, settings and schedules are those of the contract; what a connector takes is its own
 * definition's word, which `plan` reads from the service.
 */

type JsonSchema = Readonly<Record<string, unknown>>

/** A property of a schema of the contract. */
const of = (schema: object, property: string): JsonSchema => {
  const { examples: _, ...rest } = (schema as { properties: Record<string, JsonSchema> }).properties[property] ?? {}
  return rest
}

const object = (
  required: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
  description: string,
) => ({
  ...{ type: 'object', additionalProperties: false, description, required, properties },
})
const list = (items: JsonSchema, description: string) => ({ type: 'array', items, description })

const name = of(AddAccount, 'name')
const was = {
  ...list(name, 'Names that it had before: one that is found by these is renamed'),
  maxItems: 100,
}
const id = {
  type: 'string',
  pattern: '^[0-9a-f]{16}$',
  description: 'Identifier in this service, where several have the same name. It is different in every service',
}
const connector = {
  type: 'string',
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  maxLength: 100,
  description: 'The connector, by the last part of the address of its page: amazon-s3-source',
}
const settings = of(CreateConnection, 'srcConnectionConfig')
const secrets = {
  type: 'object',
  maxProperties: limits.configurationFieldsMax,
  patternProperties: {
    [Object.keys(settings.patternProperties as object)[0] ?? '']: {
      type: ['string', 'null'],
      maxLength: limits.secretLengthMax,
      description: `A reference: \${env:NAME} or \${file:path}. null clears the secret`,
    },
  },
  additionalProperties: false,
  description: 'Secrets by field, each by reference. What is left out stays as it is',
}
const side = (role: string) =>
  object(
    ['connector'],
    { connector, settings: { ...settings, description: `Settings of the ${role}; all of them` } },
    `The ${role}`,
  )
const schedule = object(
  ['cron'],
  {
    cron: of(SetSchedule, 'cron'),
    timezone: { ...of(SetSchedule, 'timezone'), default: 'UTC' },
    enabled: { ...of(SetSchedule, 'enabled'), default: true },
  },
  'When transfers start automatically; left out: never',
)

/** What can be null in a request is left out in a file. */
const orLeftOut = (schema: JsonSchema): JsonSchema => (schema.anyOf as JsonSchema[])[0] as JsonSchema

const url = of(CreateWebhook, 'url')
const webhooks = list(
  object(
    ['url'],
    {
      url: { ...url, description: 'Address that events are posted to, which it is found by; it can have references' },
      was: { ...list(url, 'Addresses that it had before'), maxItems: 100 },
      id,
      description: of(CreateWebhook, 'description'),
      eventTypes: {
        ...orLeftOut(of(CreateWebhook, 'eventTypes')),
        description: 'Types of events that it takes; left out: all, later ones included',
      },
      enabled: { ...of(CreateWebhook, 'enabled'), description: 'Whether events are sent to it; left out: as it is' },
    },
    'A webhook. Its signing secret is made by the service, and in no file',
  ),
  'Webhooks',
)
const chat = (platform: string) => ({
  type: ['string', 'null'],
  maxLength: limits.alertUrlLengthMax,
  description: `Address of ${platform}, by reference: \${env:NAME} or \${file:path}. null: none. Left out: as it is`,
})
const alertRules = (connection: JsonSchema) =>
  list(
    object(
      ['name', 'conditions'],
      {
        ...{ name, was, id },
        enabled: { ...of(CreateAlertRule, 'enabled'), description: 'Whether it is on; left out: as it is' },
        conditions: { ...of(CreateAlertRule, 'conditions'), minProperties: 1 },
        connections: {
          ...list(connection, 'Connections that it covers; left out: all, later ones included'),
          maxItems: limits.alertConnectionsMax,
        },
        emails: { ...of(CreateAlertRule, 'emails'), description: 'E-mail addresses; left out: none' },
        emailRoles: { ...of(CreateAlertRule, 'emailRoles'), description: 'People by their role; left out: none' },
        slackUrl: chat('an incoming webhook of Slack'),
        teamsUrl: chat('a workflow of Microsoft Teams'),
      },
      'An alert rule',
    ),
    'Alert rules',
  )

/** The name under which a service serves the schema, below `/docs`. */
export const schemaFile = 'configuration.schema.json'

export const configurationSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Penstock configuration',
  ...object(
    ['version'],
    {
      version: { const: 1, description: 'Version of the format' },
      webhooks: { ...webhooks, description: 'Webhooks of the organization; left out: they are left alone' },
      alertRules: {
        ...alertRules(object(['account', 'connection'], { account: name, connection: name }, 'A connection')),
        description: 'Alert rules of the organization; left out: they are left alone',
      },
      accounts: list(
        object(
          ['name'],
          {
            name,
            was,
            id,
            enabled: { ...of(AddAccount, 'enabled'), description: 'Whether it is enabled; left out: as it is' },
            connectors: list(
              object(
                ['connector'],
                {
                  connector,
                  name: { ...of(Configure, 'name'), description: 'Name of the configuration' },
                  secretName: {
                    ...of(Configure, 'secretName'),
                    description:
                      'Name of the secrets in your secret store. With another name, the secrets are sent again',
                  },
                  settings: { ...settings, description: 'Settings that are no secrets; all of them' },
                  secrets,
                },
                'A connector that is added to the sub-account',
              ),
              'Connectors that are added',
            ),
            connections: list(
              object(
                ['name', 'source', 'destination'],
                {
                  name,
                  was,
                  id,
                  source: side('source'),
                  destination: side('destination'),
                  mapping: {
                    type: 'object',
                    description: 'Which column fills which field of the destination; left out: by name',
                    additionalProperties: {
                      type: ['string', 'null', 'object'],
                      additionalProperties: { type: 'string' },
                    },
                  },
                  schedule,
                  status: {
                    enum: ['active', 'disabled'],
                    description: 'What it is to be, once it is ready; left out: as it is',
                  },
                },
                'A connection',
              ),
              'Connections',
            ),
            webhooks,
            alertRules: alertRules({ ...name, description: 'Name of a connection' }),
          },
          'A sub-account. It may be in several files, each with some of its connectors and connections',
        ),
        'Sub-accounts',
      ),
    },
    'Configuration of a Penstock service',
  ),
} as const
