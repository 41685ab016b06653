import { strangeCursor } from '../discovery/pages.ts'
import type { Listed } from '../kit/listing-facts.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { Page } from '../platform-api/polling.ts'

/** An ID of Spotify: a UUID. */
export const spotifyId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Reads the ad accounts of one of the businesses of the user. Throws `invalid_setting` on a strange cursor.
 * @param cursor the place of the business in their list
 */
export async function readAccounts(client: PlatformClient, cursor = '0'): Promise<Page<Listed>> {
  if (!/^\d{1,5}$/.test(cursor)) throw strangeCursor()
  const { json } = await client.askObject({ path: '/businesses' })
  const businesses = listIn(json.businesses).map(objectIn)
  const id = textIn(businesses[Number(cursor)]?.id) ?? ''
  const following = Number(cursor) + 1
  return {
    // An ID of another form could lead anywhere.
    items: spotifyId.test(id) ? await accountsOf(client, id) : [],
    next: following < businesses.length ? String(following) : undefined,
  }
}

async function accountsOf(client: PlatformClient, business: string): Promise<Listed[]> {
  const { json } = await client.askObject({ path: `/businesses/${business}/ad_accounts` })
  // The list is the only one in the answer.
  const [accounts] = Object.values(json as JsonObject).filter((value) => Array.isArray(value))
  return listIn(accounts)
    .map(objectIn)
    .map(({ id, name }) => ({ id, name }))
}
