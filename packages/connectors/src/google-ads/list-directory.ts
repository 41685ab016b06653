import { ConnectorError } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { accountName } from './accounts.ts'
import type { AudiencePlan } from './audience-plans.ts'
import { type DataManager, hasReason } from './data-manager.ts'

const pagesMax = 100

/** The customer lists of an account. Google lets no two of them have one name. */
export function openLists({ ask, operating }: DataManager, { makeList }: AudiencePlan): AudienceDirectory {
  const path = `/${accountName(operating)}/userLists`
  async function find(name: string): Promise<string | undefined> {
    let pageToken: string | undefined
    for (let page = 0; page < pagesMax; page++) {
      const query = { pageSize: '1000', filter: `display_name = ${JSON.stringify(name)}`, pageToken }
      const { json } = await ask({ path, query })
      const list = listIn(json.userLists)
        .map(objectIn)
        .find(({ displayName }) => displayName === name)
      if (list) return textIn(list.id)
      pageToken = textIn(json.nextPageToken)
      if (pageToken === undefined) return undefined
    }
    return undefined
  }
  return {
    find,

    async make(name) {
      const { json, status } = await ask({
        method: 'POST',
        path,
        body: { displayName: name, ...makeList() },
        expects: hasReason('DISPLAY_NAME_ALREADY_USED'),
      })
      // Another client made it in between.
      const id = status < 300 ? textIn(json.id) : await find(name)
      if (id !== undefined) return id
      throw new ConnectorError('malformed_response', 'Google did not return the ID of the new list.')
    },

    async exists(id) {
      const { status } = await ask({ path: `${path}/${id}`, expects: ({ status }) => status === 404 })
      return status !== 404
    },
  }
}
