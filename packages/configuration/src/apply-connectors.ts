import { limits } from '@penstock/wire'
import type { Applying } from './apply.ts'
import { persistently } from './calls.ts'
import { ChangedMeanwhile, isRefused } from './failures.ts'
import type { ConnectorChange } from './plan.ts'
import type { Position, Problem } from './problems.ts'
import { describeAll } from './values.ts'

/** Adds connectors, all of a sub-account in one call. Adding one again changes nothing. */
export async function addConnectors(applying: Applying, changes: readonly ConnectorChange[]): Promise<void> {
  const added = Map.groupBy(
    changes.filter(({ action }) => action === 'create'),
    ({ account }) => account,
  )
  for (const [account, all] of added) {
    for (let start = 0; start < all.length; start += limits.connectorIdsMax) {
      const some = all.slice(start, start + limits.connectorIdsMax)
      const [first] = some
      if (!first) continue
      let error: unknown
      await applying.each([first], async () => {
        const accountId = applying.accountIds.get(account) ?? ''
        const connectorIds = some.map(({ connectorId }) => connectorId)
        await persistently(() => applying.client.addConnectors({ accountId, body: { connectorIds } }))
      })
      if (applying.hasFailed(first)) error = 'Its connectors could not be added.'
      if (error) for (const change of some) applying.fail(change, error)
    }
  }
}

/** Saves configurations. Secrets are resolved here, so that nothing keeps them. */
export const configureConnectors = (applying: Applying, changes: readonly ConnectorChange[]) =>
  applying.each(
    changes.filter(({ saves }) => saves),
    async (change) => {
      const { saves, connectorId: id, existing, at } = change
      if (!saves) return
      const accountId = existing?.accountId ?? applying.accountIds.get(change.account) ?? ''
      const problems: Problem[] = []
      const secrets: [string, string | null][] = []
      for (const [key, text] of Object.entries(saves.secrets)) {
        const value = text === null ? null : await applying.resolver.resolve(text, at as Position, problems)
        if (value !== undefined) secrets.push([key, value])
      }
      if (problems.length > 0) throw describeAll(problems)
      const { name, secretName } = saves
      const body = {
        ...(name === undefined ? {} : { name }),
        ...(secretName === undefined ? {} : { secretName }),
        secretConfig: { ...saves.settings, ...Object.fromEntries(secrets) } as never,
      }
      try {
        await persistently(() => applying.client.configureConnector({ accountId, id, body, ifMatch: existing?.etag }))
      } catch (error) {
        // Whether it is the same by now cannot be known: secrets cannot be read.
        if (isRefused(error, 'precondition_failed')) throw new ChangedMeanwhile([])
        throw error
      }
    },
  )

export const removeConnectors = (applying: Applying, changes: readonly ConnectorChange[]) =>
  applying.each(
    changes.filter(({ action }) => action === 'delete'),
    async ({ existing, connectorId: id }) => {
      if (!existing) return
      const { accountId, etag: ifMatch } = existing
      try {
        await persistently(() => applying.client.removeConnector({ accountId, id, ifMatch }))
      } catch (error) {
        if (isRefused(error, 'precondition_failed')) throw new ChangedMeanwhile([])
        if (!isRefused(error, 'connector_not_added')) throw error
      }
    },
  )
