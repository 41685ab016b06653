import { ConnectorError, type Values } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type Page, pagesOf } from '../platform-api/polling.ts'
import { type Criteo, codesOf } from './criteo-api.ts'

const pageSize = 100

/** The advertiser that a connection names. */
export function advertiserOf({ advertiserId }: Values): string | undefined {
  const id = textIn(advertiserId)?.trim()
  if (!id) return undefined
  if (/^\d{1,15}$/.test(id)) return id
  throw new ConnectorError('invalid_setting', 'Advertiser ID must be the number of an advertiser at Criteo.')
}

/** A search for contact lists: those of an advertiser, or one by its ID. */
export const searchBody = ({ advertiser, id }: { advertiser?: string | undefined; id?: string }) => ({
  data: {
    attributes: {
      audienceSegmentTypes: ['ContactList'],
      ...(advertiser === undefined ? {} : { advertiserIds: [advertiser] }),
      ...(id === undefined ? {} : { audienceSegmentIds: [id] }),
    },
  },
})

/** The contact lists of an advertiser at Criteo. @param description of those that are made */
export function openContactLists(criteo: Criteo, settings: Values, description: string): AudienceDirectory {
  const named = advertiserOf(settings)
  const advertiser = (): string => {
    if (named !== undefined) return named
    throw new ConnectorError(
      'invalid_setting',
      'Rows do not have audience IDs, so the connection needs the advertiser ID.',
    )
  }

  const search = async (body: unknown, offset: number) => {
    const { json } = await criteo.askObject({
      method: 'POST',
      path: '/audience-segments/search',
      query: { limit: String(pageSize), offset: String(offset) },
      body,
      repeatable: true,
    })
    return { items: listIn(json.data), total: numberIn(objectIn(json.meta).totalItems) ?? 0 }
  }

  return {
    async find(name) {
      const body = searchBody({ advertiser: advertiser() })
      const readPage = async (cursor: string | undefined): Promise<Page<unknown>> => {
        const offset = Number(cursor ?? 0)
        const { items, total } = await search(body, offset)
        const next = offset + items.length
        return { items, next: items.length > 0 && next < total ? String(next) : undefined }
      }
      const ids: string[] = []
      for await (const { items } of pagesOf(readPage)) {
        for (const { id, attributes } of items.map(objectIn)) {
          const found = idIn(id)
          if (found !== undefined && objectIn(attributes).name === name) ids.push(found)
        }
      }
      return ids.sort((a, b) => Number(a) - Number(b))[0]
    },

    async make(name) {
      const { json } = await criteo.askObject({
        method: 'POST',
        path: '/audience-segments/create',
        body: { data: [{ attributes: { advertiserId: advertiser(), name, description, contactList: {} } }] },
        // Of several audiences some may be made; there is only one.
        expects: ({ status, json }) => status === 200 && codesOf(json).length > 0,
      })
      const [code] = codesOf(json)
      if (code === 'name-must-be-unique') {
        throw new ConnectorError('conflict', 'Criteo already has an audience with this name (name-must-be-unique).')
      }
      if (code !== undefined)
        throw new ConnectorError('request_refused', `Criteo did not create the audience (${code}).`)
      const id = idIn(objectIn(listIn(json.data)[0]).id)
      if (id !== undefined) return id
      throw new ConnectorError('malformed_response', 'Criteo did not return the ID of the new audience.')
    },

    exists: async (id) => (await search(searchBody({ id }), 0)).items.some((one) => idIn(objectIn(one).id) === id),
  }
}

/** An ID of an audience; `undefined` for anything else. */
export function idIn(value: unknown): string | undefined {
  const id = textIn(value)
  return id !== undefined && /^\d{1,15}$/.test(id) ? id : undefined
}
