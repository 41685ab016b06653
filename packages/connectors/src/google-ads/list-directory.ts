import type { Values } from '@penstock/connector'
import { ConnectorError } from '@penstock/connector'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { AudienceDirectory } from '../platform-api/named-audiences.ts'
import { accountName, type DataManager, hasReason } from './data-manager.ts'

const pagesMax = 100

/** The customer lists of an account. Google lets no two of them have one name. */
export function openLists(dataManager: DataManager, settings: Values): AudienceDirectory {
  const path = `${accountName(dataManager.operating)}/userLists`
  async function find(name: string): Promise<string | undefined> {
    let pageToken: string | undefined
    for (let page = 0; page < pagesMax; page++) {
      const query = new URLSearchParams({
        pageSize: '1000',
        filter: `display_name = ${JSON.stringify(name)}`,
        ...(pageToken === undefined ? {} : { pageToken }),
      })
      const { json } = await dataManager.ask('GET', `${path}?${query}`)
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
      const body = { displayName: name, ingestedUserListInfo: listInfo(settings) }
      const taken = hasReason('DISPLAY_NAME_ALREADY_USED')
      const { json, status } = await dataManager.ask('POST', path, { body, expects: taken })
      // Another client made it in between.
      const id = status < 300 ? textIn(json.id) : await find(name)
      if (id !== undefined) return id
      throw new ConnectorError('malformed_response', 'Google did not say which list it has made.')
    },

    async exists(id) {
      const { status } = await dataManager.ask('GET', `${path}/${id}`, { expects: ({ status }) => status === 404 })
      return status !== 404
    },
  }
}

/** What a list holds; Google lets nobody change it later. */
function listInfo({ audienceType, dataSourceType, appId, keySpace }: Values): unknown {
  const source = String(dataSourceType ?? 'DATA_SOURCE_TYPE_FIRST_PARTY')
    .trim()
    .toUpperCase()
  const dataSource = source.startsWith('DATA_SOURCE_TYPE_') ? source : `DATA_SOURCE_TYPE_${source}`
  return audienceType === 'Mobile Advertising Id'
    ? { uploadKeyTypes: ['MOBILE_ID'], mobileIdInfo: { dataSourceType: dataSource, appId, keySpace } }
    : { uploadKeyTypes: ['CONTACT_ID'], contactIdInfo: { dataSourceType: dataSource } }
}
