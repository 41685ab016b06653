import { asConnectorError, ConnectorError, type DestinationContext } from '@penstock/connector'
import type { AudienceDirectory } from '../../platform-api/audiences/named-audiences.ts'
import type { PlatformCall, PlatformClient } from '../../platform-api/client.ts'
import { textIn } from '../../platform-api/json.ts'
import { cursorIn } from '../../platform-api/next-page.ts'
import { pagesOf, pollUntilDone } from '../../platform-api/polling.ts'
import type { AccountTarget, ListFacts, OpenedAudience } from '../audience-facts.ts'

function idIn(lists: ListFacts, value: unknown): string | undefined {
  const id = textIn(value)
  return id !== undefined && lists.id.test(id) ? id : undefined
}

/** The ID of a new audience. Throws `malformed_response` if the platform returned no ID. */
export function madeId({ lists, platformApi: { name } }: OpenedAudience, value: unknown): string {
  const id = idIn(lists, value)
  if (id !== undefined) return id
  throw new ConnectorError('malformed_response', `${name} did not return the ID of the new audience.`)
}

/** How the audiences of an account are found and made, by the facts. */
export function openDirectory(
  facts: OpenedAudience,
  client: PlatformClient,
  to: AccountTarget,
  { columns, signal }: DestinationContext,
): AudienceDirectory {
  const {
    lists,
    account,
    settings,
    platformApi: { name: platform },
  } = facts
  const { make } = lists
  const assertAccount = (): void => {
    if (to.account !== '') return
    const message = `Set “${settings[account]?.label}” in the connection: rows without the ID of an audience need it.`
    throw new ConnectorError('invalid_setting', message)
  }
  const exists = async (id: string): Promise<boolean> => {
    try {
      const answer = await client.askObject(lists.get(to, id))
      return lists.isThere?.(answer, id) ?? true
    } catch (error) {
      if (asConnectorError(error)?.code === 'object_not_found') return false
      throw error
    }
  }
  const find = async (name: string): Promise<string | undefined> => {
    assertAccount()
    return findAudience(facts, client, to, name)
  }
  const makeOrFind = async (name: string, asked: PlatformCall): Promise<unknown> => {
    try {
      return lists.made?.(await client.ask({ method: 'POST', ...asked }))
    } catch (error) {
      const id = asConnectorError(error)?.code === 'conflict' ? await find(name) : undefined
      if (id === undefined) throw error
      return id
    }
  }
  return {
    exists,
    find,
    isListed: lists.page !== undefined,
    make:
      make &&
      (async (name) => {
        const id = madeId(facts, await makeOrFind(name, make(to, name, columns)))
        if (lists.appearsLater) {
          const visible = async () => (await exists(id)) || undefined
          const waits = { firstMs: 250, mostMs: 5_000, totalMs: 60_000, signal }
          await pollUntilDone(`The new audience at ${platform}`, visible, waits)
        }
        return id
      }),
  }
}

/** The ID of the audience with this name. `undefined` if it does not exist, or if the platform does not list its audiences. */
export async function findAudience(
  { lists, platformApi: { name: platform } }: OpenedAudience,
  client: PlatformClient,
  to: AccountTarget,
  name: string,
): Promise<string | undefined> {
  const { page, found: foundIn, next } = lists
  if (!page) return undefined
  const found: { id: string; created: string }[] = []
  const readPage = async (cursor: string | undefined) => {
    const answer = await client.askObject(page(to, cursor, name))
    return { items: foundIn?.(answer) ?? [], next: cursorIn(next?.(answer, cursor), platform) }
  }
  for await (const { items } of pagesOf(readPage)) {
    for (const item of items) {
      const id = idIn(lists, item.id)
      if (id !== undefined && item.name === name) found.push({ id, created: textIn(item.created) ?? '' })
    }
  }
  // Names are not unique: always the oldest, which has the lowest number. Numbers are too large to compare as such.
  return found.sort((a, b) => compare(a.created, b.created) || a.id.length - b.id.length || compare(a.id, b.id))[0]?.id
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
