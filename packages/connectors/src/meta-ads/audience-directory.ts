import { ConnectorError } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { Graph } from './graph.ts'

/** An account has at most some hundreds of customer lists. */
const pagesMax = 100

/** The path of the ad account that a setting names: `act_123` for `123` and for `act_123`. */
export function accountPath(advertiserId: unknown): string {
  const digits = /^(?:act_)?(\d+)$/.exec(String(advertiserId ?? '').trim())?.[1]
  if (!digits) throw new ConnectorError('invalid_setting', 'Advertiser ID must be the number of an ad account at Meta.')
  return `act_${digits}`
}

/**
 * The customer lists of an ad account.
 * @param byValue whether lists that are made say what each person is worth
 */
export function openDirectory(graph: Graph, account: string, description: string, byValue: boolean): AudienceDirectory {
  return {
    async find(name) {
      const ids: string[] = []
      let after: string | undefined
      for (let page = 0; page < pagesMax; page++) {
        const { json } = await graph.get(`${account}/customaudiences`, {
          fields: 'id,name,subtype',
          limit: '200',
          ...(after === undefined ? {} : { after }),
        })
        for (const audience of listIn(json.data).map(objectIn)) {
          const id = textIn(audience.id)
          if (id && audience.name === name && (audience.subtype ?? 'CUSTOM') === 'CUSTOM') ids.push(id)
        }
        const { next, cursors } = objectIn(json.paging)
        after = textIn(objectIn(cursors).after)
        if (next === undefined || after === undefined) break
      }
      // The oldest has the lowest number; numbers are too large to compare as such.
      return ids.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0]
    },

    async make(name) {
      const { json } = await graph.post(`${account}/customaudiences`, {
        name,
        description,
        subtype: 'CUSTOM',
        customer_file_source: 'USER_PROVIDED_ONLY',
        ...(byValue ? { is_value_based: true } : {}),
      })
      const id = textIn(json.id)
      if (!id) throw new ConnectorError('malformed_response', 'Meta did not return the ID of the new audience.')
      return id
    },

    async exists(id) {
      try {
        const { json } = await graph.get(id, { fields: 'id,operation_status' })
        const flagged = textIn(objectIn(json.operation_status).code) === '471'
        if (!flagged) return true
      } catch (error) {
        if (isGone(error)) return false
        throw error
      }
      const message = 'Meta has flagged the audience, so it cannot be changed; appeal the decision at Meta first.'
      throw new ConnectorError('account_restricted', message)
    },
  }
}

const isGone = (error: unknown): boolean => error instanceof ConnectorError && error.code === 'object_not_found'
