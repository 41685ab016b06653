import type { ErrorFact } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { objectIn } from '../platform-api/json.ts'
import { nextAddressIn, unusableNext } from '../platform-api/next-page.ts'

const snapchatOrigin = 'https://adsapi.snapchat.com'
export const snapchatUrl = `${snapchatOrigin}/v1`

/** The code of Snapchat for errors of its own, which comes with 4xx, too. */
export const snapchatTransient: Readonly<Record<string, ErrorFact>> = { E1001: 'platform_error' }

/** The query of the page that an answer names as the next one. Throws `malformed_response` if it is not one of Snapchat's API. */
export function nextQuery({ json }: Answer): string | undefined {
  const url = nextAddressIn(objectIn(objectIn(json).paging).next_link, snapchatUrl, 'Snapchat')
  if (url?.searchParams.get('cursor') === null) throw unusableNext('Snapchat', 'it has no cursor')
  return url?.search
}

/** The cursor of that page. */
export const nextCursor = (answer: Answer): unknown => {
  const query = nextQuery(answer)
  return query === undefined ? undefined : new URLSearchParams(query).get('cursor')
}
