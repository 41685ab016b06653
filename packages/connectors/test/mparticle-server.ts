import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * mParticle's Events API v2 as far as server-to-server events go, written from its schema: basic authentication, at most
 * 100 events, no key that the schema does not have, and 202 for all that it takes in.
 */

export type MparticleServer = PlatformServer & {
  /** The batches that were accepted, in order. */
  readonly batches: Record<string, unknown>[]
}

export const mparticleSecrets = { key: 'mparticle-key', secret: 'mparticle-secret' }
export const mparticleRoutes = (url: string) => ({
  'https://s2s.us1.mparticle.com': url,
  'https://s2s.eu1.mparticle.com': url,
})

const keys = {
  batch: ['schema_version', 'environment', 'mpid', 'user_identities', 'user_attributes', 'device_info', 'ip', 'events'],
  user: ['customer_id', 'email', 'mobile_number', 'other'],
  device: ['ios_advertising_id', 'android_advertising_id'],
  data: [
    'timestamp_unixtime_ms',
    'event_id',
    'event_num',
    'source_message_id',
    'session_id',
    'session_uuid',
    'location',
    'device_current_state',
    'custom_attributes',
    'custom_flags',
    'event_name',
    'custom_event_type',
    'screen_name',
  ],
}

export async function startMparticle(): Promise<MparticleServer> {
  const batches: Record<string, unknown>[] = []
  const server = await startPlatform((received) => {
    const { method, path, headers } = received
    if (`${method} ${path}` === 'GET /') return { status: 404, text: '' }
    if (headers.authorization === undefined) return { status: 401, text: '' }
    const { key, secret } = mparticleSecrets
    if (headers.authorization !== `Basic ${btoa(`${key}:${secret}`)}`) return { status: 403, text: '' }
    if (`${method} ${path}` !== 'POST /v2/bulkevents') return { status: 404, text: '' }
    return take(received, batches)
  })
  return Object.assign(server, { batches })
}

function take({ headers, json }: Received, batches: Record<string, unknown>[]): Reply {
  const refusal = { status: 400, json: { errors: [{ code: 'BAD_REQUEST', message: 'may quote jane@example.com' }] } }
  if (headers['content-type'] !== 'application/json' || !Array.isArray(json)) return refusal
  if (json.length === 0 || json.length > 100 || !json.every(isBatch)) return refusal
  batches.push(...json)
  return { status: 202, text: '' }
}

const only = (object: unknown, allowed: readonly string[]): boolean =>
  typeof object === 'object' && object !== null && Object.keys(object).every((key) => allowed.includes(key))
const isTexts = (object: unknown): boolean => Object.values(object ?? {}).every((value) => typeof value === 'string')

function isBatch(batch: Record<string, unknown>): boolean {
  const { environment, user_identities: user = {}, device_info: device = {}, events, user_attributes: said } = batch
  if (!only(batch, keys.batch) || !['production', 'development'].includes(String(environment))) return false
  if (!only(user, keys.user) || !only(device, keys.device) || !isTexts(said) || !isTexts(user)) return false
  return Array.isArray(events) && events.length === 1 && events.every(isEvent)
}

function isEvent({ event_type: type, data, ...others }: Record<string, unknown>): boolean {
  if (Object.keys(others).length > 0 || !only(data, keys.data)) return false
  const {
    timestamp_unixtime_ms: time,
    event_id: id,
    custom_attributes: said,
    ...rest
  } = data as Record<string, unknown>
  if (!Number.isSafeInteger(time) || (id !== undefined && !Number.isSafeInteger(id)) || !isTexts(said)) return false
  if (!isTexts(rest.custom_flags) || rest.event_name === 'Refused') return false
  if (type === 'screen_view') return typeof rest.screen_name === 'string'
  if (type !== 'custom_event') return type === 'session_start' || type === 'session_end'
  return typeof rest.event_name === 'string' && typeof rest.custom_event_type === 'string'
}
