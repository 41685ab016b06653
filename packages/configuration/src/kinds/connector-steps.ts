import { limits, type SavedValues } from '@penstock/wire'
import { persistently } from '../calls.ts'
import { connectorIdOf } from '../definitions.ts'
import { ChangedMeanwhile, isRefused } from '../failures.ts'
import { readAll } from '../read-all.ts'
import type { Applying, Change, Entry } from '../resource-kind.ts'
import { resolveSecrets, type Secrets } from '../secrets.ts'
import type { Values } from '../values.ts'

/** How connectors and their configurations are applied. */

/** Its name is its slug, with the name of its configuration unless that is the first one. */
export type DesiredConnector = Entry & {
  readonly slug: string
  /** The name of the configuration; undefined means the first one. */
  readonly configuration: string | undefined
  readonly configured: { readonly name?: string | undefined; readonly secretName?: string | undefined }
  /** As written: with references. */
  readonly settings: Values
  readonly secrets: Secrets
}
/** The content of a change of a connector. */
export type OwnOfConnector = {
  /** The values to save; undefined if there are none. Secrets are resolved when they are sent. */
  readonly saves?:
    | (DesiredConnector['configured'] & {
        readonly settings: Readonly<Record<string, unknown>>
        readonly secrets: Secrets
      })
    | undefined
}
/** A change of a connector. */
export type ConnectorChange = Change<DesiredConnector, SavedValues, OwnOfConnector>

/** Adds connectors, all of a sub-account in one call, then their further configurations. Adding one again changes nothing. */
export async function add(changes: readonly ConnectorChange[], applying: Applying): Promise<void> {
  for (const [account, all] of Map.groupBy(changes, ({ account }) => account ?? '')) {
    for (let start = 0; start < all.length; start += limits.connectorIdsMax) {
      const some = all.slice(start, start + limits.connectorIdsMax)
      const [first] = some
      if (!first) continue
      await applying.each([first], async () => {
        const accountId = applying.accountIds.get(account) ?? ''
        const connectorIds = [...new Set(some.map(({ name, desired }) => connectorIdOf(desired?.slug ?? name)))]
        await persistently(() => applying.client.addConnectors({ accountId, body: { connectorIds } }))
      })
      if (applying.hasFailed(first))
        for (const change of some) applying.fail(change, 'Its connectors could not be added.')
    }
  }
  const further = changes.filter((change) => change.desired?.configuration !== undefined && !applying.hasFailed(change))
  await applying.each(further, (change) => createConfiguration(change, applying))
}

/** By which a step of an apply finds a configuration that an earlier step created. */
export const keyOfConfiguration = (account: string | null, name: string): string => `${account ?? ''}\n${name}`

/** Creates a further configuration without values, only once: another apply of the same files may have created it. */
async function createConfiguration({ account, name, desired }: ConnectorChange, applying: Applying): Promise<void> {
  const { client, accountIds, configurationIds } = applying
  const { slug, configuration = '' } = desired ?? { slug: name }
  const accountId = accountIds.get(account ?? '') ?? ''
  const id = connectorIdOf(slug)
  const body = { name: configuration }
  const made = await persistently(() => client.createConnectorConfiguration({ accountId, id, body })).then(
    ({ reply }) => reply.configurationId,
    async (error) => {
      if (!isRefused(error, 'configuration_exists')) throw error
      const there = await readAll(client, 'listConnectorConfigurations', accountId)
      return there.find((one) => one.connectorId === id && one.name === configuration)?.configurationId
    },
  )
  if (made === undefined) throw new ChangedMeanwhile([{ field: 'configuration' }])
  configurationIds.set(keyOfConfiguration(account, name), made)
}

/** Saves a configuration, in the version that the plan saw. */
export async function configure(
  change: ConnectorChange,
  { client, accountIds, configurationIds, resolver }: Applying,
): Promise<void> {
  const { saves, existing, desired, at } = change
  if (!saves) return
  const accountId = existing?.accountId ?? accountIds.get(change.account ?? '') ?? ''
  const { name, secretName, settings } = saves
  const made = configurationIds.get(keyOfConfiguration(change.account, change.name))
  const configurationId = existing && !existing.first ? existing.configurationId : made
  const body = {
    ...(configurationId === undefined ? {} : { configurationId }),
    ...(name === undefined ? {} : { name }),
    ...(secretName === undefined ? {} : { secretName }),
    secretConfig: { ...settings, ...(await resolveSecrets(saves.secrets, at, resolver)) } as never,
  }
  try {
    const id = connectorIdOf(desired?.slug ?? change.name)
    await persistently(() => client.configureConnector({ accountId, id, body, ifMatch: existing?.etag }))
  } catch (error) {
    // It is unknown whether the values are already the same, because secrets cannot be read.
    if (isRefused(error, 'precondition_failed')) throw new ChangedMeanwhile([])
    throw error
  }
}
