import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Marketing Cloud's REST API as far as data extensions and their rows go, written from its documents: tokens of the client,
 * rows that are processed later, results in the order of the rows and in pages.
 */

type Column = { name: string; isPrimaryKey: boolean; isNullable: boolean }
type Extension = {
  id: string
  key: string
  name: string
  categoryId: number
  columns: Column[]
  rows: Record<string, unknown>[]
}
type Result = { status: 'OK' } | { status: 'Error'; errorCode: string; message: string }
type Request = { asks: number; results: Result[] }

export type MarketingCloudServer = PlatformServer & {
  readonly extensions: Extension[]
  /** Entry events of journeys that were taken. */
  readonly entries: Record<string, unknown>[]
  /** The attributes of contacts, by their keys. */
  readonly contacts: Map<string, Record<string, unknown>>
  /** How requests are processed: how often one is asked about before it is done, how it ends, which results are shown. */
  processing: { asksBeforeDone: number; end: 'Complete' | 'Error'; shows: 'all' | 'errors'; locks: number }
  expireTokens(): void
}

export const journeyKey = 'APIEvent-5f1c'
export const subdomain = 'mc563885gzs27c5t9-63k636ttgm'
export const marketingCloudSecrets = { clientId: 'mc-client', clientSecret: 'mc-client-secret', subdomain }
export const marketingCloudRoutes = (url: string) => ({
  [`https://${subdomain}.auth.marketingcloudapis.com`]: url,
  [`https://${subdomain}.rest.marketingcloudapis.com`]: url,
})

export const people: Column[] = [
  { name: 'Email', isPrimaryKey: true, isNullable: false },
  { name: 'First Name', isPrimaryKey: false, isNullable: true },
  { name: 'Age', isPrimaryKey: false, isNullable: true },
]

const refusal = (status: number, errorcode: number, others = {}): Reply => ({
  status,
  json: { message: 'may quote jane@example.com', errorcode, documentation: '', ...others },
})

export async function startMarketingCloud(): Promise<MarketingCloudServer> {
  const extensions: Extension[] = []
  const entries: MarketingCloudServer['entries'] = []
  const contacts: MarketingCloudServer['contacts'] = new Map()
  const processing: MarketingCloudServer['processing'] = { asksBeforeDone: 0, end: 'Complete', shows: 'all', locks: 0 }
  const requests = new Map<string, Request>()
  let tokens = 0
  let good = ''

  function answer(received: Received): Reply {
    const { method, path, headers, query, json } = received
    const route = `${method} ${path}`
    if (route === 'GET /') return { status: 404, text: '' }
    if (route === 'POST /v2/token') return token(received)
    if (headers.authorization !== `Bearer ${good}`) return refusal(401, 0, { message: 'Not Authorized' })
    if (!['GET', 'DELETE'].includes(method) && headers['content-type'] !== 'application/json') return refusal(415, 0)
    const [, id, kind] = /^\/data\/v1\/async\/([\w-]+)\/(status|results)$/.exec(path) ?? []
    if (method === 'GET' && id) return kind === 'status' ? statusOf(id) : resultsOf(id, query)
    const [, key] = /^\/data\/v1\/async\/dataextensions\/key:([^/]+)\/rows$/.exec(path) ?? []
    if (key && (method === 'PUT' || method === 'POST')) return take(decodeURIComponent(key), method === 'PUT', json)
    if (path.startsWith('/data/v1/customobjects')) return objects(received)
    if (route === 'POST /interaction/v1/events') return enter(json)
    if (route === 'POST /contacts/v1/establish') return establish(json)
    if (route === 'PATCH /contacts/v1/contacts') return setAttributes(json)
    if (route === 'POST /contacts/v1/contacts/actions/delete') return deleteContacts(query.get('type'), json)
    return refusal(404, 0)
  }

  const keySets = ['Email Addresses', 'Email Demographics', 'MobileConnect Demographics']

  /** A key that begins with `bad` makes no contact. */
  function establish(json: unknown): Reply {
    const { contactKeys, returnResults, correlateResponseItem, ...others } = (json ?? {}) as Record<string, unknown>
    const isRequest = Array.isArray(contactKeys) && returnResults === true && correlateResponseItem === true
    if (!isRequest || contactKeys.length === 0 || Object.keys(others).length > 0) return refusal(400, 10001)
    const items = contactKeys.map((key, at) => {
      const isBad = String(key).startsWith('bad')
      if (!isBad && !contacts.has(key)) contacts.set(key, {})
      const contactReference = isBad ? { contactID: 0 } : { contactID: 1_000 + at, contactKey: key }
      return { value: { requestedContactKey: key, contactReference, requestItemIndex: at, resultMessages: [] } }
    })
    return { json: { items, resultMessages: [], serviceMessageID: 's' } }
  }

  /** Failures have the status 200. */
  function setAttributes(json: unknown): Reply {
    type Sets = { name: string; items: { values: { name: string; value: unknown }[] }[] }[]
    const { contactKey, attributeSets, ...others } = (json ?? {}) as { contactKey?: string; attributeSets?: Sets }
    const contact = contacts.get(String(contactKey))
    if (!contact || !Array.isArray(attributeSets) || Object.keys(others).length > 0) return refusal(400, 10001)
    const result = { requestServiceMessageID: 'r', serviceMessageID: 's' }
    if (!attributeSets.every(({ name }) => keySets.includes(name))) {
      const resultMessages = [
        { resultType: 'Error', resultCode: 'UnknownSchema', message: 'may quote jane@example.com' },
      ]
      return { json: { operationStatus: 'FAIL', hasErrors: true, resultMessages, ...result } }
    }
    for (const { items } of attributeSets) {
      for (const { name, value } of items.flatMap(({ values }) => values)) contact[name] = value
    }
    return { json: { operationStatus: 'OK', rowsAffected: 1, hasErrors: false, resultMessages: [], ...result } }
  }

  function deleteContacts(type: string | null, json: unknown): Reply {
    const { values, deleteOperationType, ...others } = (json ?? {}) as Record<string, unknown>
    const isRequest = type === 'keys' && Array.isArray(values) && deleteOperationType === 'ContactAndAttributes'
    if (!isRequest || Object.keys(others).length > 0) return refusal(400, 10001)
    for (const key of values) contacts.delete(key)
    return { json: { operationInitiated: true, operationID: 17, hasErrors: false, resultMessages: [] } }
  }

  function enter(json: unknown): Reply {
    const {
      ContactKey: contact,
      EventDefinitionKey: key,
      Data: data = {},
      ...others
    } = (json ?? {}) as Record<string, unknown>
    const isEvent = typeof contact === 'string' && typeof data === 'object' && Object.keys(others).length === 0
    if (!isEvent || key !== journeyKey) return refusal(400, 30003)
    entries.push(json as Record<string, unknown>)
    return { status: 201, json: { eventInstanceId: `event-${entries.length}` } }
  }

  function token({ text, headers }: Received): Reply {
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return { status: 415, text: '' }
    const { grant_type, client_id, client_secret, ...others } = Object.fromEntries(new URLSearchParams(text))
    if (grant_type !== 'client_credentials' || Object.keys(others).length > 0) {
      return { status: 400, json: { error: 'invalid_request' } }
    }
    const { clientId, clientSecret } = marketingCloudSecrets
    if (client_id !== clientId || client_secret !== clientSecret)
      return { status: 401, json: { error: 'invalid_client' } }
    good = `mc-access-${++tokens}`
    const rest = `https://${subdomain}.rest.marketingcloudapis.com/`
    return { json: { access_token: good, token_type: 'Bearer', expires_in: 1079, rest_instance_url: rest } }
  }

  function take(key: string, upserts: boolean, json: unknown): Reply {
    const extension = extensions.find((one) => one.key === key)
    const { items, ...others } = (json ?? {}) as { items?: unknown }
    const isRow = (row: unknown) =>
      typeof row === 'object' &&
      row !== null &&
      Object.values(row).every((cell) => ['string', 'number', 'boolean'].includes(typeof cell))
    if (!extension || !Array.isArray(items) || Object.keys(others).length > 0 || !items.every(isRow)) {
      return { status: 400, json: { requestId: 'r', resultMessages: [{ resultCode: 'x', message: 'may quote' }] } }
    }
    if (items.length === 0 || items.length > 30_000) return refusal(400, 10001)
    // A row that Marketing Cloud cannot parse sinks the request.
    if (items.some((row) => row.Email === 'sinks@example.com'))
      return refusal(400, 10006, { additionalErrors: [{ message: 'x' }] })
    const requestId = `request-${requests.size + 1}`
    const results = items.map((row) => store(extension, upserts, row))
    requests.set(requestId, { asks: 0, results })
    return { status: 202, json: { requestId, resultMessages: [] } }
  }

  function store(extension: Extension, upserts: boolean, row: Record<string, unknown>): Result {
    const error = (message: string): Result => ({ status: 'Error', errorCode: 'UnexpectedError', message })
    const { columns, rows } = extension
    if (!Object.keys(row).every((name) => columns.some((column) => column.name === name)))
      return error('Invalid column')
    if (columns.some(({ name, isNullable }) => !isNullable && row[name] === undefined)) return error('Null in a key')
    if (row.Age !== undefined && Number.isNaN(Number(row.Age))) return error(`Conversion failed: ${row.Age}`)
    if (row['First Name'] === 'Locked' && processing.locks > 0) {
      processing.locks--
      return error(
        'Transaction (Process ID 5) was deadlocked and has been chosen as the victim. Rerun the transaction.',
      )
    }
    const keys = columns.filter(({ isPrimaryKey }) => isPrimaryKey)
    const found = rows.find((one) => keys.length > 0 && keys.every(({ name }) => one[name] === row[name]))
    if (found && !upserts)
      return error(`Violation of PRIMARY KEY constraint. The duplicate key value is (${row.Email}).`)
    if (found) Object.assign(found, row)
    else rows.push({ ...row })
    return { status: 'OK' }
  }

  function statusOf(id: string): Reply {
    const request = requests.get(id)
    if (!request || request.asks++ < processing.asksBeforeDone) {
      return { json: { requestId: id, resultMessages: [{ resultCode: 'AsyncRequestStatusNotFound', message: 'x' }] } }
    }
    const hasErrors = request.results.some(({ status }) => status === 'Error')
    const status = {
      requestStatus: processing.end,
      resultStatus: hasErrors ? 'Has Errors' : 'OK',
      hasErrors,
      requestId: id,
    }
    return { json: { status, requestId: id } }
  }

  function resultsOf(id: string, query: URLSearchParams): Reply {
    const [page, size] = [Number(query.get('page')), Number(query.get('pagesize'))]
    if (!(page >= 1) || !(size >= 1 && size <= 2_500)) return refusal(400, 10001)
    const results =
      requests.get(id)?.results.filter(({ status }) => processing.shows === 'all' || status === 'Error') ?? []
    const items = processing.end === 'Error' ? [] : results.slice((page - 1) * size, page * size)
    return { json: { page, pageSize: size, count: results.length, items, requestId: id, resultMessages: [] } }
  }

  function objects({ method, path, query, json }: Received): Reply {
    const shown = ({ id, key, name }: Extension) => ({ id, key, name })
    const body = (json ?? {}) as Record<string, unknown>
    if (path === '/data/v1/customobjects') {
      if (method === 'GET') {
        const [page, size] = [Number(query.get('$page')), Number(query.get('$pagesize'))]
        const text = query.get('$search') ?? ''
        const found = extensions.filter(({ key, name }) => key.includes(text) || name.includes(text))
        return {
          json: {
            count: found.length,
            page,
            pageSize: size,
            items: found.slice((page - 1) * size, page * size).map(shown),
          },
        }
      }
      const keys = Object.keys(body).sort().join()
      if (method !== 'POST' || keys !== 'categoryId,fields,isSendable,name') return refusal(400, 10001)
      if (body.categoryId !== 7 || extensions.some(({ name }) => name === body.name)) return refusal(400, 30004)
      const at = extensions.length + 1
      const made = { id: `id-${at}`, key: `KEY-${at}`, name: String(body.name), categoryId: 7, rows: [] }
      extensions.push({ ...made, columns: body.fields as Column[] })
      return { status: 201, json: shown({ ...made, columns: [] }) }
    }
    const [, id, rest] = /^\/data\/v1\/customobjects\/([\w-]+)(\/fields)?$/.exec(path) ?? []
    const extension = extensions.find((one) => one.id === id)
    if (!extension) return refusal(404, 0)
    if (method === 'GET' && rest) return { json: { id, fields: extension.columns } }
    if (method === 'DELETE') {
      extensions.splice(extensions.indexOf(extension), 1)
      return { status: 200, json: {} }
    }
    if (method !== 'PATCH' || Object.keys(body).sort().join() !== 'categoryId,name' || body.categoryId !== 7)
      return refusal(400, 10001)
    extension.name = String(body.name)
    return { json: shown(extension) }
  }

  const server = await startPlatform(answer)
  return Object.assign(server, {
    extensions,
    entries,
    contacts,
    processing,
    expireTokens() {
      good = ''
    },
  })
}
