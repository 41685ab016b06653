import { tokensOf } from './oauth-tokens.ts'
import { type Asked, entityRoute, hasOnly, jsonBodies, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

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
  const tokens = tokensOf({
    path: '/v2/token',
    secrets: { clientId: marketingCloudSecrets.clientId, clientSecret: marketingCloudSecrets.clientSecret },
    prefix: 'mc-access-',
    expiresIn: 1079,
    more: () => ({ rest_instance_url: `https://${subdomain}.rest.marketingcloudapis.com/` }),
  })
  const keySets = ['Email Addresses', 'Email Demographics', 'MobileConnect Demographics']

  /** A key that begins with `bad` makes no contact. */
  function establish({ body }: Asked): Reply {
    const { contactKeys, returnResults, correlateResponseItem } = body
    const isRequest = Array.isArray(contactKeys) && returnResults === true && correlateResponseItem === true
    if (!isRequest || contactKeys.length === 0 || !hasOnly(body, 'contactKeys returnResults correlateResponseItem')) {
      return refusal(400, 10001)
    }
    const items = contactKeys.map((key, at) => {
      const isBad = String(key).startsWith('bad')
      if (!isBad && !contacts.has(key)) contacts.set(key, {})
      const contactReference = isBad ? { contactID: 0 } : { contactID: 1_000 + at, contactKey: key }
      return { value: { requestedContactKey: key, contactReference, requestItemIndex: at, resultMessages: [] } }
    })
    return { json: { items, resultMessages: [], serviceMessageID: 's' } }
  }

  /** Failures have the status 200. */
  function setAttributes({ body }: Asked): Reply {
    type Sets = { name: string; items: { values: { name: string; value: unknown }[] }[] }[]
    const { contactKey, attributeSets } = body as { contactKey?: string; attributeSets?: Sets }
    const contact = contacts.get(String(contactKey))
    const isRequest = Array.isArray(attributeSets) && hasOnly(body, 'contactKey attributeSets')
    if (!contact || !isRequest) return refusal(400, 10001)
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

  function deleteContacts({ query, body }: Asked): Reply {
    const { values, deleteOperationType } = body
    const isOfKeys = query.get('type') === 'keys' && deleteOperationType === 'ContactAndAttributes'
    if (!isOfKeys || !Array.isArray(values) || !hasOnly(body, 'values deleteOperationType')) return refusal(400, 10001)
    for (const key of values) contacts.delete(key)
    return { json: { operationInitiated: true, operationID: 17, hasErrors: false, resultMessages: [] } }
  }

  function enter({ body }: Asked): Reply {
    const { ContactKey: contact, EventDefinitionKey: key, Data: data = {} } = body
    const isKnown = hasOnly(body, 'ContactKey EventDefinitionKey Data') && typeof data === 'object'
    if (!isKnown || typeof contact !== 'string' || key !== journeyKey) return refusal(400, 30003)
    entries.push(body)
    return { status: 201, json: { eventInstanceId: `event-${entries.length}` } }
  }

  function take({ params, body }: Asked, upserts: boolean): Reply {
    const extension = extensions.find(({ key }) => key === decodeURIComponent(params.key ?? ''))
    const { items } = body
    const isRow = (row: unknown) =>
      typeof row === 'object' &&
      row !== null &&
      Object.values(row).every((cell) => ['string', 'number', 'boolean'].includes(typeof cell))
    if (!extension || !Array.isArray(items) || !hasOnly(body, 'items') || !items.every(isRow)) {
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

  function statusOf({ params: { id = '' } }: Asked): Reply {
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

  function resultsOf({ params: { id = '' }, query }: Asked): Reply {
    const [page, size] = [Number(query.get('page')), Number(query.get('pagesize'))]
    if (!(page >= 1) || !(size >= 1 && size <= 2_500)) return refusal(400, 10001)
    const results =
      requests.get(id)?.results.filter(({ status }) => processing.shows === 'all' || status === 'Error') ?? []
    const items = processing.end === 'Error' ? [] : results.slice((page - 1) * size, page * size)
    return { json: { page, pageSize: size, count: results.length, items, requestId: id, resultMessages: [] } }
  }

  const shown = ({ id, key, name }: Extension) => ({ id, key, name })

  function listExtensions({ query }: Asked): Reply {
    const [page, size] = [Number(query.get('$page')), Number(query.get('$pagesize'))]
    const text = query.get('$search') ?? ''
    const found = extensions.filter(({ key, name }) => key.includes(text) || name.includes(text))
    const items = found.slice((page - 1) * size, page * size).map(shown)
    return { json: { count: found.length, page, pageSize: size, items } }
  }

  const keysOf = (body: object) => Object.keys(body).sort().join()

  function makeExtension({ body }: Asked): Reply {
    if (keysOf(body) !== 'categoryId,fields,isSendable,name') return refusal(400, 10001)
    if (body.categoryId !== 7 || extensions.some(({ name }) => name === body.name)) return refusal(400, 30004)
    const at = extensions.length + 1
    const made = { id: `id-${at}`, key: `KEY-${at}`, name: String(body.name), categoryId: 7, rows: [] }
    extensions.push({ ...made, columns: body.fields as Column[] })
    return { status: 201, json: shown({ ...made, columns: [] }) }
  }

  function renameExtension(extension: Extension, { body }: Asked): Reply {
    if (keysOf(body) !== 'categoryId,name' || body.categoryId !== 7) return refusal(400, 10001)
    extension.name = String(body.name)
    return { json: shown(extension) }
  }

  const ofExtension = (answer: (extension: Extension, asked: Asked) => Reply) =>
    entityRoute(extensions, refusal(404, 0), answer)
  const data = '/data/v1'
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: '' }, ...tokens.routes },
      demands: [tokens.bearer(refusal(401, 0, { message: 'Not Authorized' })), jsonBodies(refusal(415, 0))],
      routes: {
        [`GET ${data}/async/{id}/status`]: statusOf,
        [`GET ${data}/async/{id}/results`]: resultsOf,
        [`PUT ${data}/async/dataextensions/key:{key}/rows`]: (asked) => take(asked, true),
        [`POST ${data}/async/dataextensions/key:{key}/rows`]: (asked) => take(asked, false),
        [`GET ${data}/customobjects`]: listExtensions,
        [`POST ${data}/customobjects`]: makeExtension,
        [`GET ${data}/customobjects/{id}/fields`]: ofExtension(({ id, columns }) => ({
          json: { id, fields: columns },
        })),
        [`PATCH ${data}/customobjects/{id}`]: ofExtension(renameExtension),
        [`DELETE ${data}/customobjects/{id}`]: ofExtension((extension) => {
          extensions.splice(extensions.indexOf(extension), 1)
          return { status: 200, json: {} }
        }),
        'POST /interaction/v1/events': enter,
        'POST /contacts/v1/establish': establish,
        'PATCH /contacts/v1/contacts': setAttributes,
        'POST /contacts/v1/contacts/actions/delete': deleteContacts,
      },
      unknown: refusal(404, 0),
    },
    { extensions, entries, contacts, processing, expireTokens: tokens.expire },
  )
}
