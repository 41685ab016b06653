import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The Trade Desk's endpoints for data from a CRM, and the store that takes its files, written from published clients: a list that
 * ends with an empty page, a file announced by its kind and its mode, an address that is signed and must not get the token, one
 * identifier in a line.
 */

export type CrmAudience = { id: string; name: string; region: string; members: Set<string> }
/** A file that was uploaded, and what was announced of it. */
export type CrmFile = { audience: string; kind: string; mode: string; minutes: number | undefined; lines: string[] }

export type CrmServer = PlatformServer & {
  readonly audiences: CrmAudience[]
  readonly drops: CrmFile[]
  /** The host in the addresses of files. */
  store: { origin: string }
}

export const crmSecrets = { apiToken: 'ttd-long-lived-token' }
const store = 'https://thetradedesk-crm-data.s3.us-east-1.amazonaws.com'
export const crmRoutes = (url: string) => ({ 'https://api.thetradedesk.com': url, [store]: url })

const kinds: Readonly<Record<string, RegExp>> = {
  EmailHashedUnifiedId2: /^[A-Za-z0-9+/]{43}=$/,
  PhoneHashedUnifiedId2: /^[A-Za-z0-9+/]{43}=$/,
}
const hasOnly = (object: object, keys: readonly string[]): boolean =>
  Object.keys(object).every((key) => keys.includes(key))

export async function startCrm(): Promise<CrmServer> {
  const audiences: CrmAudience[] = []
  const drops: CrmFile[] = []
  const announced = new Map<string, Omit<CrmFile, 'lines'>>()
  const where = { origin: store }

  function announce({ json }: Received, audience: CrmAudience): Reply {
    const { PiiType: kind, MergeMode: mode, TtlInMinutes: minutes, ...others } = (json ?? {}) as Record<string, unknown>
    const isWell =
      Object.hasOwn(kinds, String(kind)) &&
      (mode === 'Add' || mode === 'Replace') &&
      (minutes === undefined || (Number.isInteger(minutes) && Number(minutes) > 0)) &&
      Object.keys(others).length === 0
    if (!isWell || (audience.region === 'EU' && kind === 'PhoneHashedUnifiedId2')) {
      return { status: 400, json: { Message: 'The request failed validation: jane@example.com' } }
    }
    const reference = `ref${announced.size + 1}`
    announced.set(reference, {
      audience: audience.id,
      kind: String(kind),
      mode: String(mode),
      minutes: minutes as number | undefined,
    })
    const url = `${where.origin}/data/advertiser/adv1/drop/${reference}/pii?X-Amz-Expires=3600&X-Amz-Signature=sig`
    return { json: { ReferenceId: reference, Url: url } }
  }

  function take({ path, query, headers, text }: Received): Reply {
    const file = announced.get(/^\/data\/advertiser\/adv1\/drop\/(\w+)\/pii$/.exec(path)?.[1] ?? '')
    if (!file || query.get('X-Amz-Signature') !== 'sig' || headers['ttd-auth'] !== undefined) {
      return { status: 403, text: '<Error><Code>AccessDenied</Code></Error>' }
    }
    const lines = text.split('\n').filter((line) => line !== '')
    if (headers['content-type'] !== 'text/plain' || lines.some((line) => !kinds[file.kind]?.test(line))) {
      return { status: 400, text: '<Error><Code>InvalidRequest</Code></Error>' }
    }
    drops.push({ ...file, lines })
    const members = audiences.find(({ id }) => id === file.audience)?.members
    if (file.mode === 'Replace') members?.clear()
    for (const line of lines) members?.add(line)
    return { text: '' }
  }

  const server = await startPlatform((received) => {
    const { method, path, headers, json, query } = received
    const route = `${method} ${path}`
    if (route === 'GET /') return { status: 404, text: 'The Trade Desk' }
    if (method === 'PUT') return take(received)
    if (headers['ttd-auth'] !== crmSecrets.apiToken) return { status: 401, json: { Message: 'Unauthorized' } }
    // A token that may not read reports.
    if (route === 'POST /v3/myreports/reporttemplateheader/query') return { status: 403, text: 'Forbidden' }
    if (route === 'POST /v3/crmdata/segment') {
      const { AdvertiserId, SegmentName, Region, ...others } = json as Record<string, string>
      if (AdvertiserId !== 'adv1') return { status: 403, json: { Message: 'Forbidden' } }
      const isWell = SegmentName && ['US', 'EU', 'APAC'].includes(String(Region)) && hasOnly(others, [])
      if (!isWell) return { status: 400, json: { Message: 'Bad request' } }
      const id = `cc9b84${audiences.length}`
      audiences.push({ id, name: SegmentName, region: String(Region), members: new Set() })
      return { json: { FirstPartyDataId: 358_268_865 + audiences.length, CrmDataId: id } }
    }
    const [, verb, advertiser, id] = /^(GET|POST) \/v3\/crmdata\/segment\/(\w+)(?:\/(\w+))?$/.exec(route) ?? []
    if (advertiser === undefined) return { status: 404, json: { Message: 'Not found' } }
    if (advertiser !== 'adv1') return { status: 403, json: { Message: 'Forbidden' } }
    if (verb === 'GET') {
      // Pages are small, so that there are some.
      const offset = Number(query.get('pagingToken') ?? 0)
      const page = audiences.slice(offset, offset + 2)
      const Segments = page.map((one) => ({ CrmDataId: one.id, SegmentName: one.name, Region: one.region }))
      return { json: { Segments, PagingToken: page.length === 0 ? null : String(offset + 2) } }
    }
    const audience = audiences.find((one) => one.id === id)
    return audience ? announce(received, audience) : { status: 404, json: { Message: 'Not found' } }
  })
  return Object.assign(server, { audiences, drops, store: where })
}
