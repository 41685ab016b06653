import {
  Configure,
  type ConnectorDefinition,
  didYouMean,
  fieldIsRequired,
  limits,
  type Role,
  type SavedValues,
} from '@penstock/wire'
import { connectorIdOf } from '../definitions.ts'
import { escapeAll, ifAny, wordsOfNames } from '../export-names.ts'
import type { Problem } from '../problems.ts'
import { readAll } from '../read-all.ts'
import { withoutReferences } from '../references.ts'
import { entriesIn, once, type Planning, type ResourceKind, type Scope, statesIn, whose } from '../resource-kind.ts'
import { connectorSlug, object, of, settings, was } from '../schema-parts.ts'
import { planSecrets } from '../secrets.ts'
import {
  differences,
  type FieldChange,
  type FieldDefinition,
  fieldsOf,
  readSettings,
  settable,
  type Values,
  valuesOf,
} from '../values.ts'
import { deleteOnce } from '../writes.ts'
import { add, type ConnectorChange, configure, type DesiredConnector, type OwnOfConnector } from './connector-steps.ts'

type FileConnector = {
  connector: string
  configuration?: string
  was?: string[]
  name?: string
  secretName?: string
  settings?: Values
  secrets?: Record<string, string | null>
}
/** The name of a configuration of a connector within its sub-account. The first configuration has no name. */
export const nameOfConfiguration = (slug: string, configuration: string | undefined): string =>
  configuration === undefined ? slug : `${slug} (${configuration})`

/**
 * The connectors of sub-accounts and their configurations. Connectors have no names, so they are identified by their slugs, and
 * further configurations of a connector by their names.
 */
export const connector: ResourceKind<'connectors', FileConnector, DesiredConnector, SavedValues, OwnOfConnector> = {
  kind: 'connector',
  title: 'connector',
  list: 'connectors',
  plural: 'Connectors that are added',
  key: 'connector',
  ofOrganization: false,
  destroyedBy: 'allowDestroy',
  nameOf: ({ slug, first, name }) => nameOfConfiguration(slug, first ? undefined : name),
  identifierOf: ({ configurationId }) => configurationId,
  audited: { action: 'configureConnector', key: 'name', idOf: ({ configurationId }) => configurationId },
  nameFrom: (name, { slug }) => nameOfConfiguration(slug, name),
  couldBe: ({ slug, configuration }, one) => configuration !== undefined && !one.first && one.slug === slug,
  schema: () =>
    object(
      ['connector'],
      {
        connector: connectorSlug,
        configuration: {
          ...of(Configure, 'name'),
          description: 'Name of a further configuration of the connector. Omitted: the first one',
        },
        was: { ...was, description: 'Names that this further configuration had before' },
        name: { ...of(Configure, 'name'), description: 'Name of the first configuration' },
        secretName: {
          ...of(Configure, 'secretName'),
          description: 'Name of the secrets in your secret store. With another name, the secrets are sent again',
        },
        settings: { ...settings, description: 'All settings that are not secrets' },
        secrets: {
          type: 'object',
          maxProperties: limits.configurationFieldsMax,
          patternProperties: {
            [Object.keys(settings.patternProperties as object)[0] ?? '']: {
              type: ['string', 'null'],
              maxLength: limits.secretLengthMax,
              description: `A reference: \${env:NAME}, \${file:path}, or to a secret manager, such as secret://vault/penstock/ads#token. null clears the secret`,
            },
          },
          additionalProperties: false,
          description: 'Secrets by field, each by reference. Omitted secrets do not change',
        },
      },
      'A connector that is added to the sub-account',
    ),
  parse({ connector: slug, configuration, was = [], name, secretName, settings = {}, secrets = {} }, at, _, problems) {
    const isFirst = configuration === undefined
    if (!isFirst && name !== undefined)
      problems.push({ message: 'Write the name of a further configuration under configuration.', at: at('name') })
    if (isFirst && was.length > 0)
      problems.push({ message: 'The first configuration is not found by a name.', at: at('was') })
    return {
      name: nameOfConfiguration(slug, configuration?.trim()),
      was: isFirst ? [] : was.map((one) => nameOfConfiguration(slug, one.trim())),
      slug,
      configuration: configuration?.trim(),
      configured: { name: isFirst ? name?.trim() : configuration.trim(), secretName: secretName?.trim() },
      settings,
      secrets,
      at,
    }
  },
  async write(saved, _, siblings, { definitions, account, secret, notes }) {
    const { slug, name, first, configurationId, secretName, accountId, authorized } = saved
    const named = { connector: slug, ...(first ? {} : { configuration: name }) }
    const definition = await definitions(slug)
    if (!definition) return named
    const byClick = authorized ? (definition.authorization?.fields ?? []) : []
    const others = siblings.filter((one) => one.slug === slug && !one.first).map((one) => one.name)
    const words = first ? slug : `${slug} configuration ${wordsOfNames(others)(name)}`
    if (authorized)
      notes.push(
        `${connector.nameOf(saved)} of the sub-account ${account?.name} was authorized with a click. In another service, authorize it there.`,
      )
    const secrets = saved.secrets
      .filter((field) => !byClick.includes(field))
      .map((field) => {
        const reference = saved.references[field]
        return [field, reference === undefined ? secret(words, field) : withoutReferences(reference)] as const
      })
    return {
      ...named,
      ...(!first || name === 'Default' ? {} : { name }),
      // The default name contains the identifier of the sub-account.
      ...(secretName === `${slug}/${accountId}${first ? '' : `/${configurationId}`}` ? {} : { secretName }),
      ...ifAny('settings', escapeAll(settable(fieldsOf(definition.secretFields), saved.settings))),
      ...ifAny('secrets', Object.fromEntries(secrets)),
    }
  },
  read: (client, accountId) => readAll(client, 'listConnectorConfigurations', accountId),
  diff,
  isNeeded: (saved, { desired }) => {
    const isOfOther = ({ slug, configuration }: DesiredConnector) => slug === saved.slug && configuration !== undefined
    // The others go with the first one.
    return (
      isUsed(desired).has(connector.nameOf(saved)) || (saved.first && entriesIn(connector, desired).some(isOfOther))
    )
  },
  create: { stage: 'connectors', runAll: add },
  also: [{ stage: 'connectors', when: ({ saves }) => saves !== undefined, run: configure }],
  remove: {
    stage: 'unused connectors',
    async run({ existing }, { client }) {
      if (!existing) return
      const { accountId, connectorId: id, configurationId, first, etag: ifMatch } = existing
      const query = { configurationId }
      await deleteOnce(
        () =>
          first
            ? client.removeConnector({ accountId, id, ifMatch })
            : client.deleteConnectorConfiguration({ accountId, id, query, ifMatch }),
        'connector_not_added',
        'not_found',
      )
    },
  },
}

type Sides = { readonly source: { readonly connector: string }; readonly destination: { readonly connector: string } }

/** The connectors that the connections of the files use, each as a configuration is named. */
const isUsed = once(
  (desired: object) =>
    new Set(
      ((desired as { connections?: readonly Sides[] }).connections ?? []).flatMap(({ source, destination }) => [
        source.connector,
        destination.connector,
      ]),
    ),
)

/**
 * Secrets cannot be read. They are sent if they are not set yet, and together with every other change of the configuration. A
 * different `secretName` means that the secrets are different.
 */
async function diff(entry: DesiredConnector, existing: SavedValues | undefined, scope: Scope, planning: Planning) {
  const { definitions, resolver, options, problems, notes, refused } = planning
  const { slug, name: what, at } = entry
  const definition = await definitions(slug)
  if (!definition) {
    const message = `This version of the service has no connector ${slug}.${await definitions.suggest(slug)} Its name is the last part of the address of its page under /docs/connectors.`
    problems.push({ message, at: at('connector') })
    return undefined
  }
  const fields = fieldsOf(definition.secretFields)
  const wrong: Problem[] = []
  const of = { at, path: ['settings'], of: `the connector ${what}`, refused: wrong }
  const settings = await readSettings(entry, fields, of, resolver, problems)
  const isSet = (key: string) => existing?.secrets.includes(key) ?? false
  const byClick = definition.authorization?.fields ?? []
  const secrets = planSecrets(
    entry.secrets,
    {
      isSet,
      at: (key) => at('secrets', key),
      wrong: (key) => {
        const field = fields.get(key)
        if (!field) return `${key} is not a field of the connector ${slug}.${didYouMean(key, [...fields.keys()])}`
        return field.type === 'Password' ? undefined : `${key} is not a secret: write it under settings.`
      },
      plain: (key) =>
        `${key} is a secret in plain text. Write a reference, \${env:NAME} or \${file:path}, and change the secret.`,
      references: existing?.references ?? {},
      // Access that a user granted by clicking is not replaced, unless all secrets are set again.
      isLeft: (key) => existing?.authorized === true && !options.setSecrets && byClick.includes(key),
    },
    planning,
  )
  const stored = settable(fields, existing?.settings ?? {})
  const own: FieldChange[] = differences('settings', stored, settings)
  for (const key of ['name', 'secretName'] as const) {
    const to = entry.configured[key]
    const from = existing?.[key]
    if (to !== undefined && to !== from) own.push({ field: key, ...(from === undefined ? {} : { from }), to })
  }
  const waits =
    !existing?.configured &&
    definition.authorization !== null &&
    byClick.every((key) => !secrets.sent.has(key) && !isSet(key))
  if (waits) {
    scope.waiting.add(what)
    notes.push(
      `${what}${whose(scope.account)} must be authorized with a click, in the console or with POST /connectors/${connectorIdOf(slug)}/authorization. Then apply again.`,
    )
  }
  if (waits || (own.length === 0 && !secrets.isChange)) return { fields: [] }
  const sent = await secrets.changes('secrets.')
  const dropped = Object.keys(stored).filter((key) => !settings.has(key))
  const saves = {
    ...entry.configured,
    settings: { ...valuesOf(settings), ...Object.fromEntries(dropped.map((key) => [key, null])) },
    secrets: sent.secrets,
  }
  const values = await valuesAfter(entry, existing, { saves }, definition, planning)
  refused.push(...wrong)
  const lacking = missingFields(definition.secretFields, values ?? {})
  const message = `${what}${whose(scope.account)} cannot be saved: it needs ${lacking.join(', ')}.`
  if (lacking.length > 0) refused.push({ message, at: at('connector') })
  return { fields: [...own, ...sent.fields], saves }
}

/** The changes of the connectors of a sub-account, by their slugs. */
export const connectorChanges = once(
  ({ changes }: Scope) =>
    new Map(
      changes.filter(({ kind }) => kind === 'connector').map((change) => [change.name, change as ConnectorChange]),
    ),
)

/** The names of the configurations of connectors that the sub-account has, or will have. */
export const addedIn = once(({ desired, existing }: Scope): string[] => [
  ...statesIn(connector, existing ?? {}).map(connector.nameOf),
  ...entriesIn(connector, desired).map(({ name }) => name),
])

/** The identifier of a configuration that is there, also if the files rename it. */
export function configurationIdIn({ desired, existing, matched }: Scope, name: string): string | undefined {
  const entry = entriesIn(connector, desired).find((one) => one.name === name)
  if (entry) return (matched.get(entry) as SavedValues | undefined)?.configurationId
  return statesIn(connector, existing ?? {}).find((one) => connector.nameOf(one) === name)?.configurationId
}

/** The values of a configuration of a sub-account after the plan is applied; undefined if it is not configured. */
export const valuesIn = (scope: Scope, definition: ConnectorDefinition, name: string, planning: Planning) =>
  valuesAfter(
    entriesIn(connector, scope.desired).find((one) => one.name === name),
    statesIn(connector, scope.existing ?? {}).find((one) => one.configurationId === configurationIdIn(scope, name)),
    connectorChanges(scope).get(name),
    definition,
    planning,
  )

/** For secrets, only whether they are set. */
async function valuesAfter(
  entry: DesiredConnector | undefined,
  saved: SavedValues | undefined,
  change: OwnOfConnector | undefined,
  definition: ConnectorDefinition,
  { resolver }: Pick<Planning, 'resolver'>,
): Promise<Record<string, unknown> | undefined> {
  if (!saved?.configured && !change?.saves) return undefined
  const byClick = saved?.authorized ? (definition.authorization?.fields ?? []) : []
  // Problems of the settings were collected when the connector was planned.
  const settings =
    entry &&
    (await readSettings(
      entry,
      fieldsOf(definition.secretFields),
      { at: entry.at, path: ['settings'], of: entry.name },
      resolver,
      [],
    ))
  return {
    ...Object.fromEntries([...(saved?.secrets ?? []), ...byClick].map((key) => [key, 'set'])),
    ...(settings ? valuesOf(settings) : saved?.settings),
    ...Object.fromEntries(Object.entries(change?.saves?.secrets ?? {}).map(([key, text]) => [key, text && 'set'])),
  }
}

/** The fields that require a value and do not have one. */
export function missingFields(
  fields: readonly FieldDefinition[],
  values: Readonly<Record<string, unknown>>,
  role?: Role,
): string[] {
  const byName = Object.fromEntries(fields.map((field) => [field.name, field]))
  const isSet = (name: string) => values[name] !== undefined && values[name] !== null && values[name] !== ''
  return fields
    .map(({ name }) => name)
    .filter(
      (name) => fieldIsRequired(byName, name, values, role) && !isSet(name) && byName[name]?.default === undefined,
    )
}
