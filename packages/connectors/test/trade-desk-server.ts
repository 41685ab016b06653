import { createHmac } from 'node:crypto'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The Trade Desk's endpoint for first-party data, as strict as it is known to be: a signature over the very bytes, one
 * identifier to an item, times to live, sizes; it answers 200 with the lines that it did not accept.
 */

export type TradeDeskServer = PlatformServer & {
  /** Minutes that identifiers stay, by `type:id:segment`. */
  readonly memberships: Map<string, number>
  /** Identifiers that it does not know. */
  readonly unmapped: Set<string>
  /** How failed lines say what they are about: by what it is, by its number from 1, by that number in a sentence, or not. */
  lines: { by: 'identifier' | 'number' | 'message' | 'nothing' }
}

export const tradeDeskSecrets = { advertiserId: 'adv1', advertiserSecretKey: 'ttd-secret-key' }
/** A token that goes beside the signature if there is one. */
export const tradeDeskToken = 'ttd-token'
const idTypes =
  `TDID DAID UID2 UID2Token RampID CoreID EUID EUIDToken ID5 NetID FirstID UtiqID MerkuryID IqviaPPID`.split(' ')
const bytesMax = 2_500_000

export async function startTradeDesk(): Promise<TradeDeskServer> {
  const memberships = new Map<string, number>()
  const unmapped = new Set<string>()
  const lines: TradeDeskServer['lines'] = { by: 'identifier' }
  const server = await startPlatform((received) => {
    if (`${received.method} ${received.path}` !== 'POST /data/advertiser')
      return { status: 404, text: 'EndpointNotConfigured' }
    const denied = deny(received)
    return denied ?? take((received.json as { Items: unknown[] }).Items, { memberships, unmapped, lines })
  })
  return Object.assign(server, { memberships, unmapped, lines })
}

function deny({ text, json, headers }: Received): Reply | undefined {
  const signature = createHmac('sha1', tradeDeskSecrets.advertiserSecretKey).update(text).digest('base64')
  if (headers.ttdsignature !== signature) return { status: 401, text: 'AuthenticationFailed' }
  const token = headers['ttd-auth']
  if (token !== undefined && token !== tradeDeskToken) return { status: 401, text: 'InvalidToken' }
  if (Buffer.byteLength(text) > bytesMax) return { status: 413, text: 'MaxRequestSizeExceeded' }
  const { AdvertiserId, Items } = (json ?? {}) as Record<string, unknown>
  if (AdvertiserId !== tradeDeskSecrets.advertiserId) return { status: 403, text: 'IncorrectPermissions' }
  if (!Array.isArray(Items) || Items.length === 0) return { status: 400, json: { ErrorCode: 'MissingData' } }
  return undefined
}

function take(
  items: readonly unknown[],
  { memberships, unmapped, lines }: Pick<TradeDeskServer, 'memberships' | 'unmapped' | 'lines'>,
): Reply {
  const failed: Record<string, unknown>[] = []
  for (const [at, value] of items.entries()) {
    const item = value as Record<string, unknown>
    const types = Object.keys(item).filter((key) => key !== 'Data')
    const [type = ''] = types
    const id = String(item[type])
    if (types.length !== 1 || !idTypes.includes(type)) return { status: 400, text: 'SerializationFailed' }
    for (const [number, data] of (item.Data as Record<string, unknown>[]).entries()) {
      const { Name: name, TtlInMinutes: ttl } = data
      const code = codeOf(type, id, name, ttl) ?? (unmapped.has(id) ? 'UserNotMapped' : undefined)
      const key = `${type}:${id}:${name}`
      const numbers = { ItemNumber: String(at + 1), DataNumber: String(number + 1) }
      const about = {
        identifier: { [type]: id, DataName: name, Message: 'quotes a value', ...numbers },
        number: { Message: 'quotes a value', ...numbers },
        message: { Message: `Invalid ${type}, item #${at + 1}` },
        nothing: { Message: 'quotes a value' },
      }
      if (code) failed.push({ ErrorCode: code, ...about[lines.by] })
      else if (ttl === 0) memberships.delete(key)
      else memberships.set(key, Number(ttl))
    }
  }
  return { json: failed.length > 0 ? { FailedLines: failed } : {} }
}

function codeOf(type: string, id: string, name: unknown, ttl: unknown): string | undefined {
  if (typeof name !== 'string' || name === '' || name.length > 256) return 'DataNameTooLong'
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 0 || ttl > 259_200) return 'InvalidTtlInMinutes'
  const fits =
    type !== 'TDID' && type !== 'DAID' ? id.length >= 16 : /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
  return fits ? undefined : 'InvalidParameterFormat'
}
