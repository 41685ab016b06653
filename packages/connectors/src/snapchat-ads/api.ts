import type { ErrorFact } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { objectIn } from '../platform-api/json.ts'
import { nextAddressIn, unusableNext } from '../platform-api/next-page.ts'

const snapchatOrigin = 'https://adsapi.snapchat.com'
export const snapchatUrl = `${snapchatOrigin}/v1`

/** Snapchat's code for internal errors, which can also have a status 4xx. */
export const snapchatTransient: Readonly<Record<string, ErrorFact>> = { E1001: 'platform_error' }

/** The query of the next page in an answer. Throws `malformed_response` if it does not belong to Snapchat's API. */
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
