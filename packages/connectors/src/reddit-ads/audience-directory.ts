import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { pagesOf } from '../platform-api/polling.ts'
import { audienceIdIn, nextPath } from './reddit-api.ts'

/** The customer lists of an ad account at Reddit. */
export function openAudiences(reddit: PlatformClient, account: string): AudienceDirectory {
  const path = `${account}/custom_audiences`
  return {
    async find(name) {
      const ids: string[] = []
      const readPage = async (next: string | undefined) => {
        const { json } = await reddit.askObject({ path: next ?? path })
        return { items: listIn(json.data), next: nextPath(json) }
      }
      for await (const { items } of pagesOf(readPage)) {
        for (const { id, name: called, type } of items.map(objectIn)) {
          const found = audienceIdIn(id)
          if (found !== undefined && called === name && (type ?? 'CUSTOMER_LIST') === 'CUSTOMER_LIST') ids.push(found)
        }
      }
      // The oldest has the lowest number; numbers are too large to compare as such.
      return ids.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0]
    },

    async make(name) {
      const { json } = await reddit.askObject({
        method: 'POST',
        path,
        body: { data: { name, type: 'CUSTOMER_LIST' } },
      })
      const id = audienceIdIn(objectIn(json.data).id)
      if (id !== undefined) return id
      throw new ConnectorError('malformed_response', 'Reddit did not return the ID of the new audience.')
    },

    async exists(id) {
      try {
        await reddit.askObject({ path: `/custom_audiences/${id}` })
        return true
      } catch (error) {
        if (asConnectorError(error)?.code === 'object_not_found') return false
        throw error
      }
    },
  }
}
