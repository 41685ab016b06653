import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { AudienceTarget, SendPeople } from '../kit/audience-facts.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { cursorIn } from '../platform-api/next-page.ts'
import { pagesOf } from '../platform-api/polling.ts'
import { nextOf, pageOf } from './pages.ts'

/** The list that an audience is made of, if it is. */
const listIdIn = (audience: unknown): string | undefined => textIn(objectIn(objectIn(audience).rule).customer_list_id)

/** The type of a new list. Pinterest accepts identifiers of any kind in one list. */
function listTypeOf(columns: readonly string[]): 'EMAIL' | 'IDFA' | 'MAID' {
  const has = (kind: string) => columns.includes(kind) || columns.includes(`${kind}_sha256`)
  if (has('email')) return 'EMAIL'
  return has('idfa') && !has('maid') ? 'IDFA' : 'MAID'
}

/**
 * Creates the function that sends records to customer lists: to a list that rows name, which gets an audience, or to the list
 * of an audience.
 */
export function recordSender(client: PlatformClient, { columns }: DestinationContext): SendPeople {
  /** By the IDs of their audiences. */
  const lists = new Map<string, string>()
  const withAudience = new Set<string>()

  async function listOf({ account, audience }: AudienceTarget): Promise<string> {
    const known = lists.get(audience)
    if (known !== undefined) return known
    const { json } = await client.askObject({ path: `${account}/audiences/${audience}` })
    const list = listIdIn(json)
    if (list === undefined || !/^\d+$/.test(list)) {
      const message = 'The audience of the connection or a row is not based on a customer list; use one that is.'
      throw new ConnectorError('object_not_found', message)
    }
    lists.set(audience, list)
    return list
  }

  /** Makes an audience of a list, unless there is one. */
  async function assertAudience(list: string, { account, name, settings }: AudienceTarget): Promise<void> {
    if (withAudience.has(list)) return
    const path = `${account}/audiences`
    const pages = pagesOf(async (bookmark) => {
      const answer = await client.askObject(pageOf(path, bookmark))
      return { items: listIn(answer.json.items), next: cursorIn(nextOf(answer), 'Pinterest') }
    })
    let found = false
    for await (const { items } of pages) {
      found = items.some((audience) => listIdIn(audience) === list)
      if (found) break
    }
    if (!found) {
      const rule = { customer_list_id: list }
      const body = { name: textIn(settings.audienceName) ?? name, audience_type: 'CUSTOMER_LIST', rule }
      await client.askObject({ method: 'POST', path, body })
    }
    withAudience.add(list)
  }

  return async (people, to) => {
    const { audience, name, verb } = to
    const path = `${to.account}/customer_lists`
    const records = [...new Set(people.flatMap((person) => Object.values(person)))].join(',')
    const sent = { blamed: [], missed: [] }
    if (audience === '') {
      const body = { name, list_type: listTypeOf(columns), records }
      const { json, bytesSent: bytes } = await client.askObject({ method: 'POST', path, body })
      const made = textIn(json.id)
      if (made !== undefined) await assertAudience(made, to)
      return { ...sent, bytes, made }
    }
    const list = name === undefined ? await listOf(to) : audience
    const body = { operation_type: verb === 'add' ? 'ADD' : 'REMOVE', records }
    const { bytesSent: bytes } = await client.askObject({ method: 'PATCH', path: `${path}/${list}`, body })
    if (name !== undefined) await assertAudience(list, to)
    return { ...sent, bytes }
  }
}
