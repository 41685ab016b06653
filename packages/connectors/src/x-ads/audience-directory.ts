import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { type Page, pagesOf } from '../platform-api/polling.ts'
import { type AskX, isId } from './ads-api.ts'

/** The custom audiences of an ad account. */
export function openAudiences(ask: AskX, account: string): AudienceDirectory {
  const path = `${account}/custom_audiences`

  async function page(cursor: string | undefined): Promise<Page<unknown>> {
    const query = { count: '200', ...(cursor === undefined ? {} : { cursor }) }
    const { json } = await ask({ path, query })
    const items = listIn(json.data)
    return { items, next: items.length === 0 ? undefined : textIn(json.next_cursor) }
  }

  return {
    async find(name) {
      const found: { id: string; created: string }[] = []
      for await (const { items } of pagesOf(page)) {
        for (const { id, name: called, deleted, created_at: created } of items.map(objectIn)) {
          if (typeof id !== 'string' || !isId(id) || called !== name || deleted === true) continue
          found.push({ id, created: textIn(created) ?? '' })
        }
      }
      // Names are not unique: always the oldest.
      return found.sort((a, b) => (a.created + a.id < b.created + b.id ? -1 : 1))[0]?.id
    },
    async make(name) {
      const { json } = await ask({ method: 'POST', path, query: { name } })
      const { id } = objectIn(json.data)
      if (typeof id === 'string' && isId(id)) return id
      throw new ConnectorError('malformed_response', 'X did not return the ID of the new audience.')
    },
    async exists(id) {
      try {
        const { json } = await ask({ path: `${path}/${id}` })
        return objectIn(json.data).deleted !== true
      } catch (error) {
        if (asConnectorError(error)?.code === 'object_not_found') return false
        throw error
      }
    },
  }
}
