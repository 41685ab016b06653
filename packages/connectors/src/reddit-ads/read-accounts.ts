import { strangeCursor } from '../discovery/pages.ts'
import type { Listed } from '../kit/listing-facts.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { unusableNext } from '../platform-api/next-page.ts'
import type { Page } from '../platform-api/polling.ts'
import { nextPath } from './api.ts'

/** A place in the list: a page of businesses, one of them, and a page of its ad accounts. Each page is a query. */
const placeForm = /^(\?[\w.~%=&+-]*)? (\d{1,5})(?: (\?[\w.~%=&+-]*))?$/
const pageForm = /^\?[\w.~%=&+-]+$/

/**
 * Reads a page of the ad accounts of one of the businesses of the user. Throws `invalid_setting` if the cursor was not created
 * here.
 */
export async function readAccounts(client: PlatformClient, cursor = ' 0'): Promise<Page<Listed>> {
  const [place, businessesPage = '', at = '0', accountsPage = ''] = placeForm.exec(cursor) ?? []
  if (place === undefined) throw strangeCursor()
  const businesses = await readPage(client, '/me/businesses', businessesPage)
  const id = textIn(businesses.items[Number(at)]?.id) ?? ''
  // An ID of another form could lead anywhere.
  const accounts = /^[\w-]{1,64}$/.test(id)
    ? await readPage(client, `/businesses/${id}/ad_accounts`, accountsPage)
    : { items: [], next: undefined }
  const following = Number(at) + 1
  const nextBusiness =
    following < businesses.items.length
      ? `${businessesPage} ${following}`
      : businesses.next === undefined
        ? undefined
        : `${businesses.next} 0`
  return {
    items: accounts.items.map(({ id, name }) => ({ id, name })),
    next: accounts.next === undefined ? nextBusiness : `${businessesPage} ${at} ${accounts.next}`,
  }
}

async function readPage(client: PlatformClient, path: string, query: string): Promise<Page<JsonObject>> {
  const answer = await client.askObject({ path: path + query })
  const address = nextPath(answer)
  const next = address?.slice(address.indexOf('?'))
  if (next !== undefined && !pageForm.test(next)) throw unusableNext('Reddit', 'its query is not a page')
  return { items: listIn(objectIn(answer.json).data).map(objectIn), next }
}
