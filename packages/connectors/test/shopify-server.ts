import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import { Customers, runMutation } from './shopify-customers.ts'
import {
  connectionOf,
  connectionsIn,
  type GraphqlField,
  nodeFields,
  parseGraphql,
  projected,
  type Stored,
  typeOfField,
  UndefinedField,
} from './shopify-graphql.ts'
import { scopeOfRoot, shopifyTypes as types } from './shopify-types.ts'

/**
 * Shopify's GraphQL Admin API as far as bulk operations go, written from its reference of version 2026-10: tokens, queries and mutations in
 * bulk, staged uploads, results as files at another host. It refuses fields, arguments and files that it does not know.
 */

type Line = { [key: string]: unknown }
export type ShopifyOperation = {
  id: string
  kind: 'query' | 'mutation'
  query: string
  status: string
  createdAt: string
  errorCode: string | null
  lines: Line[]
  looks: number
}

export type ShopifyServer = PlatformServer & {
  /** The objects of the shop, by the field of the query. */
  readonly objects: Record<string, Stored[]>
  readonly operations: ShopifyOperation[]
  /** Answers in place of the next ones to a field of a query or a mutation, once each. */
  readonly answers: { field: string; reply: Reply }[]
  readonly scopes: Set<string>
  /** How operations end. `lose`: lines of results that are not there; `fail`: their errors; `limit`: operations that may run. `timezone`: that of the shop. */
  processing: {
    looksBeforeDone: number
    end: string
    errorCode: string | null
    lose: number
    fail: string[]
    limit: number
    timezone: string
  }
  /** How files are handed out: without parts, or to an address. */
  results: { ranges: boolean; url: (path: string) => string; gone: boolean }
  /** Lines of every file that was uploaded. */
  readonly uploaded: string[]
  expireTokens(): void
  reset(): void
}

export const shopifyShop = 'penstock-test.myshopify.com'
export const shopifySecrets = {
  shop: 'penstock-test',
  authType: 'token',
  accessToken: 'shpat_0123456789abcdef0123456789abcdef',
}
export const shopifyAppSecrets = {
  shop: shopifyShop,
  authType: 'client-credentials',
  clientId: 'app-client-1',
  clientSecret: 'shpss_0123456789abcdef0123456789abcdef',
}
const storage = 'https://storage.googleapis.com'
const staged = 'https://shopify-staged-uploads.storage.googleapis.com'
export const shopifyRoutes = (url: string) => ({ [`https://${shopifyShop}`]: url, [storage]: url, [staged]: url })

const graphqlPath = '/admin/api/2026-10/graphql.json'
const errorsOf = (code: string, message = 'may quote jane@example.com', more: object = {}): Reply => ({
  json: { errors: [{ message, extensions: { code, ...more } }] },
})

/** Shopify has no more points left: what an answer with the status 200 says then. */
export const throttled = (available: number, requestedQueryCost = 110): Reply => ({
  json: {
    errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
    extensions: {
      cost: {
        requestedQueryCost,
        actualQueryCost: null,
        throttleStatus: { maximumAvailable: 2000, currentlyAvailable: available, restoreRate: 50 },
      },
    },
  },
})

const stamp = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z')
const allScopes = [...new Set(Object.values(scopeOfRoot)), 'write_customers']

export async function startShopify(): Promise<ShopifyServer> {
  const objects: Record<string, Stored[]> = {}
  const operations: ShopifyOperation[] = []
  const answers: ShopifyServer['answers'] = []
  const uploaded: string[] = []
  const uploads = new Map<string, string>()
  const scopes = new Set(allScopes)
  const usual = { looksBeforeDone: 0, end: 'COMPLETED', errorCode: null, lose: 0, limit: 5, timezone: 'UTC' }
  const processing: ShopifyServer['processing'] = { ...usual, fail: [] }
  const urlOf = (path: string) => `${storage}${path}`
  const results: ShopifyServer['results'] = { ranges: true, url: urlOf, gone: false }
  let tokens = 0
  let good: string | undefined
  let numbers = 0

  const jsonOf = (operation: ShopifyOperation) => ({
    id: operation.id,
    status: operation.status,
    createdAt: operation.createdAt,
    errorCode: operation.errorCode,
    objectCount: String(operation.lines.length),
    url:
      operation.status === 'COMPLETED' && operation.lines.length > 0
        ? results.url(`/bulk/${operation.id.split('/').pop()}.jsonl?Expires=1&Signature=x%2By`)
        : null,
    query: operation.query,
  })

  function answer(received: Received): Reply {
    const { method, path, headers } = received
    const route = `${method} ${path}`
    if (route === 'GET /') return { status: 200, text: '<html>' }
    if (route === 'POST /admin/oauth/access_token') return token(received)
    const [, number] = /^GET \/bulk\/(\d+)\.jsonl$/.exec(route) ?? []
    if (number !== undefined) return file(received, number)
    if (route === 'POST /') return upload(received)
    if (route !== `POST ${graphqlPath}`) return { status: 404, json: { errors: 'Not Found' } }
    const sent = headers['x-shopify-access-token']
    if (sent !== shopifySecrets.accessToken && (good === undefined || sent !== good)) {
      return {
        status: 401,
        json: { errors: '[API] Invalid API key or access token (unrecognized login or wrong password)' },
      }
    }
    const { query, variables = {} } = (received.json ?? {}) as { query: string; variables?: Line }
    const document = parseGraphql(query)
    const [field] = document.fields
    if (!field || document.fields.length > 1) return errorsOf('undefinedField')
    const at = answers.findIndex((one) => one.field === field.name)
    if (at >= 0) return answers.splice(at, 1)[0]?.reply ?? {}
    try {
      return {
        headers: { 'x-shopify-api-version': '2026-10' },
        json: { data: { [field.name]: run(field, variables) } },
      }
    } catch (error) {
      if (error instanceof Denied)
        return errorsOf(
          'ACCESS_DENIED',
          `Access denied for x field. Required access: \`${error.message}\` access scope.`,
        )
      if (error instanceof UndefinedField) return errorsOf('undefinedField')
      throw error
    }
  }

  class Denied extends Error {}

  function run(field: GraphqlField, variables: Line): unknown {
    const argument = (name: string) => {
      const given = field.args[name]
      return typeof given === 'string' && given.startsWith('$') ? variables[given.slice(1)] : given
    }
    if (field.name in scopeOfRoot) return connectionOf(types, ...rootOf(field), field)
    switch (field.name) {
      case 'shop':
        return { id: 'gid://shopify/Shop/1' }
      case 'currentAppInstallation':
        return { accessScopes: [...scopes].map((handle) => ({ handle })) }
      case 'bulkOperationRunQuery':
        return startQuery(String(argument('query')), argument('groupObjects'))
      case 'bulkOperationRunMutation':
        return startMutation(String(argument('mutation')), String(argument('stagedUploadPath')))
      case 'bulkOperationCancel': {
        const found = operations.find(({ id }) => id === argument('id'))
        if (found && isRunning(found)) found.status = 'CANCELED'
        return { userErrors: [] }
      }
      case 'node':
        return look(String(argument('id')))
      case 'bulkOperations': {
        const [, kind] = /^operation_type:(query|mutation)$/.exec(String(argument('query'))) ?? []
        return {
          nodes: operations
            .filter((one) => one.kind === kind)
            .reverse()
            .slice(0, Number(argument('first')))
            .map(jsonOf),
        }
      }
      case 'stagedUploadsCreate': {
        const [wanted] = argument('input') as Line[]
        if (wanted?.resource !== 'BULK_MUTATION_VARIABLES' || wanted.mimeType !== 'text/jsonl')
          throw new UndefinedField()
        const key = `tmp/1/bulk/${++numbers}/${wanted.filename}`
        const parameters = Object.entries({
          key,
          'Content-Type': 'text/jsonl',
          success_action_status: '201',
          acl: 'private',
          policy: 'e30=',
        })
        return {
          stagedTargets: [{ url: `${staged}/`, parameters: parameters.map(([name, value]) => ({ name, value })) }],
          userErrors: [],
        }
      }
      default:
        throw new UndefinedField(field.name)
    }
  }

  /** The type of the objects of a query, and the ones that its filter takes. */
  function rootOf(field: GraphqlField): [type: string, items: readonly Stored[]] {
    const scope = scopeOfRoot[field.name] ?? ''
    if (!scopes.has(scope)) throw new Denied(scope)
    const type = typeOfField(types, 'QueryRoot', field.name).slice(0, -1)
    const { query } = field.args
    const time = "'(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)'"
    const isEvent = field.name === 'events'
    const name = isEvent ? 'created_at' : 'updated_at'
    const changes = `${name}:>=${time}(?: AND ${name}:<${time})?`
    const filter = new RegExp(isEvent ? `^action:destroy(?: AND ${changes})?$` : `^${changes}$`)
    const [whole, since, before] = filter.exec(String(query ?? '')) ?? []
    if (query !== undefined && whole === undefined) throw new UndefinedField('query')
    // Of customers, days of the shop are compared with the days of the bounds.
    const byDay = field.name === 'customers'
    const dayOf = (at: string) => new Date(at).toLocaleDateString('en-CA', { timeZone: processing.timezone })
    const bound = (time: string) => (byDay ? time.slice(0, 10) : time)
    const fits = ({ createdAt, updatedAt = createdAt }: Stored) => {
      const at = byDay && updatedAt ? dayOf(String(updatedAt)) : String(updatedAt)
      return (since === undefined || at >= bound(since)) && (before === undefined || at < bound(before))
    }
    return [type, (objects[field.name] ?? []).filter(fits)]
  }

  const isRunning = ({ status }: ShopifyOperation) => status === 'CREATED' || status === 'RUNNING'
  const busy = (kind: string) =>
    operations.filter((one) => one.kind === kind && isRunning(one)).length >= processing.limit
      ? [{ code: 'OPERATION_IN_PROGRESS', field: null }]
      : undefined

  function begin(kind: ShopifyOperation['kind'], query: string, lines: Line[]) {
    const id = `gid://shopify/BulkOperation/${++numbers}`
    const operation = { id, kind, query, status: 'CREATED', createdAt: stamp(), errorCode: null, lines, looks: 0 }
    operations.push(operation)
    return { bulkOperation: jsonOf(operation), userErrors: [] }
  }

  function startQuery(query: string, groups: unknown): unknown {
    const refusal = busy('query')
    if (refusal) return { bulkOperation: null, userErrors: refusal }
    const { kind, fields } = parseGraphql(query)
    const { count, depth } = connectionsIn(fields)
    const [field] = fields
    const isGood = kind === 'query' && fields.length === 1 && count >= 1 && count <= 5 && depth <= 2 && groups === false
    if (!isGood || !field) return { bulkOperation: null, userErrors: [{ code: 'INVALID', field: ['query'] }] }
    const [type, items] = rootOf(field)
    const [parents, children]: [Line[], Line[]] = [[], []]
    for (const item of items) {
      const below = (of: string, inner: readonly Stored[], asked: readonly GraphqlField[]) => {
        for (const one of inner) children.push({ ...projected(types, of, one, asked), __parentId: item.id })
      }
      parents.push(projected(types, type, item, nodeFields(field), below))
    }
    // Objects below others do not follow them.
    return begin('query', query, [...children, ...parents])
  }

  function startMutation(mutation: string, path: string): unknown {
    const refusal = busy('mutation')
    if (refusal) return { bulkOperation: null, userErrors: refusal }
    const text = uploads.get(path)
    if (text === undefined)
      return { bulkOperation: null, userErrors: [{ code: 'NO_SUCH_FILE', field: ['stagedUploadPath'] }] }
    const { kind, fields, variables } = parseGraphql(mutation)
    const [field] = fields
    if (kind !== 'mutation' || !field || fields.length > 1) {
      return { bulkOperation: null, userErrors: [{ code: 'INVALID_MUTATION', field: ['mutation'] }] }
    }
    objects.customers ??= []
    const customers = new Customers(objects.customers)
    const lines = text
      .split('\n')
      .filter(Boolean)
      .map((line, number): Line => {
        const given = JSON.parse(line) as Line
        const failure = processing.fail.shift()
        if (failure)
          return {
            errors: [{ message: 'x', extensions: { code: failure } }],
            data: { [field.name]: null },
            __lineNumber: number,
          }
        if (!scopes.has('write_customers')) {
          return {
            errors: [
              { message: 'Access denied: `write_customers` access scope.', extensions: { code: 'ACCESS_DENIED' } },
            ],
            __lineNumber: number,
          }
        }
        if (Object.keys(given).some((name) => !variables.includes(`$${name}`))) throw new TypeError(line)
        return { data: { [field.name]: runMutation(customers, field.name, given) }, __lineNumber: number }
      })
    // Results are in no order, and some may be missing.
    return begin('mutation', mutation, lines.reverse().slice(processing.lose))
  }

  function look(id: string): unknown {
    const operation = operations.find((one) => one.id === id)
    if (!operation) return null
    if (isRunning(operation) && operation.looks++ >= processing.looksBeforeDone) {
      operation.status = processing.end
      operation.errorCode = processing.errorCode
      Object.assign(processing, { end: 'COMPLETED', errorCode: null })
    } else if (isRunning(operation)) operation.status = 'RUNNING'
    return jsonOf(operation)
  }

  function file({ headers }: Received, number: string): Reply {
    const operation = operations.find(({ id }) => id.endsWith(`/${number}`))
    if (!operation || results.gone || headers['x-shopify-access-token']) return { status: 403, text: '<Error/>' }
    const bytes = Buffer.from(operation.lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? []
    if (from === undefined || !results.ranges) return { bytes }
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`
    if (Number(from) >= bytes.length) return { status: 416, text: '' }
    return { status: 206, headers: { 'content-range': range }, bytes: bytes.subarray(Number(from)) }
  }

  function upload({ headers, text }: Received): Reply {
    const [, boundary = ''] = /boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? []
    const parts = text
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((part) => part.slice(2, -2))
    const named = parts.map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n')
      return { name: /name="([^"]+)"/.exec(head)?.[1] ?? '', content: rest.join('\r\n\r\n') }
    })
    const key = named.find(({ name }) => name === 'key')?.content
    const last = named.at(-1)
    // The storage wants its parameters before the file.
    if (key === undefined || last?.name !== 'file' || named.length !== 6 || headers['x-shopify-access-token']) {
      return { status: 400, text: '<Error><Code>InvalidArgument</Code></Error>' }
    }
    uploads.set(key, last.content)
    uploaded.push(...last.content.split('\n').filter(Boolean))
    return { status: 201, text: '<PostResponse/>' }
  }

  function token({ text, headers }: Received): Reply {
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return { status: 415, text: '' }
    const form = Object.fromEntries(new URLSearchParams(text))
    const { clientId, clientSecret } = shopifyAppSecrets
    if (
      form.grant_type !== 'client_credentials' ||
      form.client_id !== clientId ||
      form.client_secret !== clientSecret
    ) {
      return { status: 400, json: { error: 'invalid_client', error_description: 'x' } }
    }
    good = `shpat_app-${++tokens}-0123456789`
    return { json: { access_token: good, scope: [...scopes].join(','), expires_in: 86_399 } }
  }

  return Object.assign(await startPlatform(answer), {
    objects,
    operations,
    answers,
    scopes,
    processing,
    results,
    uploaded,
    expireTokens() {
      good = undefined
    },
    reset() {
      for (const list of [operations, answers, uploaded]) list.length = 0
      for (const name of Object.keys(objects)) delete objects[name]
      Object.assign(processing, usual, { fail: [] })
      Object.assign(results, { ranges: true, url: urlOf, gone: false })
      for (const scope of allScopes) scopes.add(scope)
    },
  })
}
