import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformCall, type PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { openSnapchatTokens } from './tokens.ts'

export const adsOrigin = 'https://adsapi.snapchat.com'

/** Opens Snapchat's Marketing API, signed in. It says in the body whether it did what was asked, and has codes of its own. */
export const openAds = (context: ConnectorContext): PlatformClient =>
  openPlatform(context, {
    name: 'Snapchat',
    baseUrl: `${adsOrigin}/v1`,
    credentials: openSnapchatTokens(context),
    errorOf,
  })

/** What came of a request with users: how many it counted, or why it was refused because of what is in it. */
export type UsersReply = { readonly bytes: number; readonly counted: number | undefined; readonly refused?: string }

/** Asks for something of one kind and resolves with its parts, each of which must have succeeded. */
export async function askParts(
  ads: PlatformClient,
  asked: PlatformCall,
  kind: string,
): Promise<{ parts: readonly JsonObject[]; json: JsonObject }> {
  const { json } = await ads.askObject(asked)
  const parts = listIn(json[kind]).filter(isObject)
  if (!Array.isArray(json[kind])) {
    throw new ConnectorError('malformed_response', `Snapchat answered without its list of ${kind}.`)
  }
  return { parts, json }
}

/** Whether a status is a success; Snapchat writes it in either case. */
export const isSuccess = (status: unknown): boolean => textIn(status)?.toUpperCase() === 'SUCCESS'

/** Adds identifiers of one kind to a segment, or removes them. */
export async function sendUsers(
  ads: PlatformClient,
  segment: string,
  verb: 'add' | 'remove',
  schema: string,
  digests: readonly string[],
): Promise<UsersReply> {
  const answer = await ads.askObject({
    path: `/segments/${encodeURIComponent(segment)}/users`,
    // Snapchat takes a body with DELETE.
    method: verb === 'add' ? 'POST' : 'DELETE',
    body: { users: [{ schema: [schema], data: digests.map((digest) => [digest]) }] },
    expects: ({ status, json }) => (status === 400 || status === 200) && isObject(json),
  })
  const { json, bytesSent: bytes, status } = answer
  const [users] = listIn(json.users).map(objectIn)
  if (status === 400 || isError(json) || isError(users ?? {}, 'sub_request_status')) {
    const reason = `Snapchat did not accept the identifiers${shown(json)}; check how they were hashed.`
    return { bytes, counted: undefined, refused: reason }
  }
  if (!isSuccess(json.request_status) || !users || !isSuccess(users.sub_request_status)) {
    throw new ConnectorError('malformed_response', 'Snapchat did not report whether it accepted the identifiers.')
  }
  const counted = objectIn(users.user).number_uploaded_users
  return { bytes, counted: typeof counted === 'number' && counted >= 0 ? counted : undefined }
}

const isError = (json: JsonObject, key = 'request_status'): boolean =>
  ['ERROR', 'FAILED', 'FAILURE'].includes(textIn(json[key])?.toUpperCase() ?? '')

const codeOf = (json: unknown): string | undefined => {
  const code = textIn(objectIn(json).error_code)
  return code !== undefined && /^[\w.-]{1,40}$/.test(code) ? code : undefined
}
const shown = (json: unknown): string => {
  const code = codeOf(json)
  return code === undefined ? '' : ` (${code})`
}

function errorOf({ status, json }: Answer): ConnectorError | undefined {
  const isPermission = status === 403 || codeOf(json) === 'E3002'
  if (status === 401) {
    const message = `Snapchat does not accept the access token${shown(json)}; grant access again at Snapchat and save the new refresh token in the connector.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (isPermission) {
    const message = `Snapchat denies access${shown(json)}; check the Advertiser ID, and that the member who consented has a role on the ad account and may manage audiences.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 404) {
    const message = `Snapchat does not know the ad account or audience${shown(json)}; check the Advertiser ID and the IDs of the audiences.`
    return new ConnectorError('object_not_found', message)
  }
  if (status === 400 || (status === 200 && isError(objectIn(json)))) {
    return new ConnectorError('request_refused', `Snapchat refused the request${shown(json)}.`)
  }
  return undefined
}
