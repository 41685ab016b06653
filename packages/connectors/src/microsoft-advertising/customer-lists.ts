import { ConnectorError } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import { isObject, listIn, textIn } from '../platform-api/json.ts'
import { itemErrorsOf, type Microsoft } from './microsoft-api.ts'

/** The customer lists of an ad account and its customer. */
export function openLists(microsoft: Microsoft): AudienceDirectory {
  /** @param ids `null` for all lists: an empty one is refused */
  async function query(ids: readonly string[] | null): Promise<{ id: string; name: unknown }[]> {
    const { json } = await microsoft.askObject({
      method: 'POST',
      path: '/Audiences/QueryByIds',
      body: { AudienceIds: ids, Type: 'CustomerList' },
      repeatable: true,
    })
    return listIn(json.Audiences)
      .filter(isObject)
      .flatMap(({ Id, Name, Type }) => {
        const id = idIn(Id)
        return id !== undefined && (Type ?? 'CustomerList') === 'CustomerList' ? [{ id, name: Name }] : []
      })
  }
  return {
    async find(name) {
      const ids = (await query(null)).filter((list) => list.name === name).map(({ id }) => id)
      // The oldest has the lowest number; numbers are too large to compare as such.
      return ids.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0]
    },

    async make(name) {
      const { json } = await microsoft.askObject({
        method: 'POST',
        path: '/Audiences',
        body: { Audiences: [{ Name: name, Type: 'CustomerList' }] },
      })
      const [error] = itemErrorsOf(json, 1)
      if (error) {
        throw new ConnectorError('request_refused', `Microsoft Advertising did not create the list (${error.shown}).`)
      }
      const id = idIn(listIn(json.AudienceIds)[0])
      if (id !== undefined) return id
      throw new ConnectorError('malformed_response', 'Microsoft Advertising did not return the ID of the new list.')
    },

    exists: async (id) => (await query([id])).some((list) => list.id === id),
  }
}

/** An ID of Microsoft, which is too large for a number of JSON and comes as text. */
function idIn(value: unknown): string | undefined {
  const id = textIn(value)
  return id !== undefined && /^\d{1,20}$/.test(id) ? id : undefined
}
