import type { DesiredAccount, DesiredConnector } from './desired.ts'
import type { ConnectorChange, Planning } from './plan.ts'
import { hasReference } from './references.ts'
import { type AccountState, connectorIdOf } from './service-state.ts'
import { differences, type FieldChange, fieldsOf, readSettings, settable, valuesOf } from './values.ts'

/** What a secret reads in a file that leaves it as it is; the service shows it so. */
const mask = '********'

/**
 * Plans a connector of a sub-account. Its secrets cannot be read: they are sent where one is not set yet, and together with
 * every other change of the configuration. Another `secretName` says that there are other secrets.
 * @returns `waits` where a person has to authorize the connector first
 */
export async function planConnector(
  account: DesiredAccount,
  connector: DesiredConnector,
  accountState: AccountState | undefined,
  { definitions, resolver, options, problems, notes, missing }: Planning,
): Promise<{ change?: ConnectorChange; waits: boolean }> {
  const { slug, at } = connector
  const definition = await definitions(slug)
  if (!definition) {
    const message = `There is no connector ${slug} in this version of the service: its name is the last part of the address of its page under /docs/connectors.`
    problems.push({ message, at: at('connector') })
    return { waits: false }
  }
  const fields = fieldsOf(definition.secretFields)
  const settings = await readSettings(
    connector,
    fields,
    { at, path: ['settings'], of: `the connector ${slug}` },
    resolver,
    problems,
  )
  const existing = accountState?.connectors.get(slug)
  const { sent, cleared } = readSecrets()
  const isAuthorized = existing?.authorized ?? false
  const byClick = new Set(definition.authorization?.fields ?? [])
  // What a user granted with a click is not replaced, unless all secrets are to be.
  if (isAuthorized && !options.setSecrets) for (const key of byClick) sent.delete(key)

  const own: FieldChange[] = differences('settings', settable(fields, existing?.settings ?? {}), settings)
  for (const key of ['name', 'secretName'] as const) {
    const to = connector[key]
    const from = existing?.[key]
    if (to !== undefined && to !== from) own.push({ field: key, ...(from === undefined ? {} : { from }), to })
  }
  const isSet = (key: string) => existing?.secrets.includes(key) ?? false
  const clearedNow = cleared.filter(isSet)
  const saves =
    own.length > 0 || clearedNow.length > 0 || [...sent.keys()].some((key) => options.setSecrets || !isSet(key))
  const about = {
    kind: 'connector',
    ...{ account: account.name, name: slug, slug, at: at('connector') },
    connectorId: connectorIdOf(slug),
    existing: existing && { accountId: existing.accountId, etag: existing.etag },
  } as const
  const waits =
    !existing?.configured &&
    definition.authorization !== null &&
    [...byClick].every((key) => !sent.has(key) && !isSet(key))
  if (waits) {
    notes.push(
      `${slug} of the sub-account ${account.name} has to be authorized with a click, in the console or with POST /connectors/${about.connectorId}/authorization. Then apply again.`,
    )
    return existing ? { waits } : { waits, change: { ...about, action: 'create', fields: [] } }
  }
  if (existing && !saves) return { waits: false }
  for (const [key, text] of sent) await resolver.resolve(text, at('secrets', key), missing)
  const secretFields = [
    ...[...sent.keys()].map(
      (key): FieldChange => ({
        field: `secrets.${key}`,
        ...(isSet(key) ? { from: 'set' } : {}),
        to: 'set',
        secret: true,
      }),
    ),
    ...clearedNow.map((key): FieldChange => ({ field: `secrets.${key}`, from: 'set', secret: true })),
  ]
  const dropped = Object.keys(settable(fields, existing?.settings ?? {})).filter((key) => !settings.has(key))
  return {
    waits: false,
    change: {
      ...about,
      action: existing ? 'update' : 'create',
      fields: [...own, ...secretFields],
      saves: saves
        ? {
            ...{ name: connector.name, secretName: connector.secretName },
            settings: { ...valuesOf(settings), ...Object.fromEntries(dropped.map((key) => [key, null])) },
            secrets: { ...Object.fromEntries(sent), ...Object.fromEntries(clearedNow.map((key) => [key, null])) },
          }
        : undefined,
    },
  }

  /** The secrets that the file has: texts with references, and those that it clears. */
  function readSecrets(): { sent: Map<string, string>; cleared: string[] } {
    const sent = new Map<string, string>()
    const cleared: string[] = []
    for (const [key, text] of Object.entries(connector.secrets)) {
      const field = fields.get(key)
      const wrong = (message: string) => problems.push({ message, at: at('secrets', key) })
      if (!field) wrong(`${key} is not a field of the connector ${slug}.`)
      else if (field.type !== 'Password') wrong(`${key} is no secret: put it under settings.`)
      else if (text === null || text === '') cleared.push(key)
      else if (text === mask) continue
      else if (!hasReference(text))
        wrong(
          `${key} has its secret in the file. Write a reference, \${env:NAME} or \${file:path}, and change the secret.`,
        )
      else sent.set(key, text)
    }
    return { sent, cleared }
  }
}
