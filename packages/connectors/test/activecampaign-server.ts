import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * ActiveCampaign's API v3 as far as contacts are imported, written from its documents: no key that a contact does not have,
 * one invalid contact and nothing of a request is taken in, results that come later.
 */

export type ActiveCampaignServer = PlatformServer & {
  /** The stored contacts, by address. */
  readonly contacts: Map<string, Record<string, unknown>>
  /** How often an import is asked about before it is done, and what became of it then. */
  importing: { asksBeforeDone: number; end: 'completed' | 'failed' }
}

export const activecampaignKey = 'activecampaign-key'
/** Contacts of this domain are skipped silently. Contacts of `bounced.example` are skipped and reported. */
const excluded = '@excluded.example'
const bounced = '@bounced.example'

export async function startActiveCampaign(): Promise<ActiveCampaignServer> {
  const contacts: ActiveCampaignServer['contacts'] = new Map()
  const importing: ActiveCampaignServer['importing'] = { asksBeforeDone: 0, end: 'completed' }
  const batches = new Map<string, { asks: number; stored: string[]; failed: string[] }>()
  const server = await startPlatform((received) => {
    const { method, path, headers, query } = received
    if (`${method} ${path}` === 'GET /') return { text: '<html>Sign in</html>' }
    if (!path.startsWith('/api/3/')) return { text: '<html>Sign in</html>' }
    if (headers['api-token'] !== activecampaignKey) return { status: 403, json: { message: 'may quote the key' } }
    switch (`${method} ${path.slice('/api/3'.length)}`) {
      case 'GET /lists': {
        const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))]
        const all = ['1', '2', '3'].map((id) => ({ id, stringid: `list-${id}`, name: `List ${id}` }))
        // Pages are small, so that there are some.
        const lists = all.slice(offset, offset + Math.min(limit, 2))
        return { json: { lists, meta: { total: String(all.length) } } }
      }
      case 'GET /users/me':
        return { json: { user: { id: '1', username: 'jane' } } }
      case 'POST /import/bulk_import': {
        const taken = importAll(received, contacts)
        if ('status' in taken) return taken
        const batchId = `batch-${batches.size + 1}`
        batches.set(batchId, { asks: 0, ...taken })
        const count = taken.stored.length
        return { json: { success: 1, queued_contacts: count, batchId, message: 'Contact import queued' } }
      }
      case 'GET /import/info': {
        const batch = batches.get(query.get('batchId') ?? '')
        if (!batch) return { status: 400, json: { success: 0, message: "'batchId' is a required field." } }
        if (batch.asks++ < importing.asksBeforeDone) return { json: { status: batch.asks === 1 ? false : 'active' } }
        if (importing.end === 'failed') return { json: { status: 'failed', success: [], failure: [] } }
        return { json: { status: 'completed', success: batch.stored, failure: batch.failed } }
      }
      default:
        return { status: 404, json: { message: 'No route' } }
    }
  })
  return Object.assign(server, { contacts, importing })
}

const keys = [
  'email',
  'first_name',
  'last_name',
  'phone',
  'customer_acct_name',
  'tags',
  'fields',
  'subscribe',
  'unsubscribe',
]

const refusal = (failureReasons: readonly unknown[]): Reply & { status: number } => ({
  status: 400,
  json: { success: 0, message: 'JSON payload did not pass validation. may quote jane@example.com', failureReasons },
})

function importAll(
  { headers, json, text }: Received,
  stored: ActiveCampaignServer['contacts'],
): { stored: string[]; failed: string[] } | (Reply & { status: number }) {
  if (headers['content-type'] !== 'application/json') return refusal(['Invalid or unparsable json'])
  if (Buffer.byteLength(text) > 399_999) return { status: 413, text: '' }
  const { contacts, exclude_automations: excludes, ...others } = (json ?? {}) as Record<string, unknown>
  if (!Array.isArray(contacts) || contacts.length === 0 || contacts.length > 250) return refusal(['contacts'])
  if (Object.keys(others).length > 0 || ![undefined, true, false].includes(excludes as undefined))
    return refusal(['json'])
  const bad = contacts.flatMap((contact, at) => (isGood(contact) ? [] : [{ contact: at + 1, failureReason: 'no' }]))
  if (bad.length > 0) return refusal(bad)
  const failed: string[] = []
  const done = new Set<string>()
  for (const contact of contacts) {
    const email = String(contact.email)
    if (email.endsWith(bounced)) failed.push(email)
    else if (!email.endsWith(excluded)) {
      stored.set(email, { ...stored.get(email), ...contact })
      done.add(email)
    }
  }
  return { stored: [...done].map((_, at) => String(1250 + at)), failed }
}

function isGood(contact: Record<string, unknown>): boolean {
  const { email, tags = [], fields = [], subscribe = [], unsubscribe = [] } = contact
  if (!Object.keys(contact).every((key) => keys.includes(key)) || !/^[^@\s]+@[^@\s]+$/.test(String(email))) return false
  const isList = (list: unknown) =>
    Array.isArray(list) && list.every((one) => Object.keys(one).join() === 'listid' && Number.isInteger(one.listid))
  if (!isList(subscribe) || !isList(unsubscribe)) return false
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) return false
  return Array.isArray(fields) && fields.every(({ id, value }) => Number.isInteger(id) && typeof value === 'string')
}
