import type http from 'node:http'
import { startBehindProxy } from './behind-proxy.ts'
import { type BigQueryStorage, type ExtractConfiguration, extractResult } from './bigquery-extracts.ts'
import { type FilesConfiguration, loadFilesInto, loadMacros, translateLoaded } from './bigquery-loads.ts'
import { type LoadConfiguration, type LoadError, makeBigQueryTables, Refusal, typeOf } from './bigquery-tables.ts'
import type { FailingProxy } from './failing-proxy.ts'
import { type GoogleAccounts, makeGoogleAccounts } from './google-accounts.ts'
import { startEngine } from './warehouse-engine.ts'

type Value = string | null | { f: { v: Value }[] } | { v: Value }[]
type Field = { name: string; type: string; mode?: string; fields?: Field[] }
type Result = { readonly fields: Field[]; readonly rows: Value[][] }
type Job = Result & {
  location: string
  pollsLeft: number
  gone: boolean
  failed?: Refusal
  errors?: readonly LoadError[]
  /** Files that an extract wrote. */
  files?: number
  /** Statistics of a load of files, or of a statement that changed rows. */
  statistics?: object
}

/**
 * A server that keeps to the rules of BigQuery's REST interface, version 2, with DuckDB to run the queries: it verifies
 * assertions and tokens, examines queries, runs jobs under the names that they are given, keeps their results, and gives
 * them in pages by index or token, only where the request has the location.
 */
export type BigQueryServer = {
  readonly proxy: FailingProxy
  readonly routes: Readonly<Record<string, string>>
  /** The key file of a service account that may read, and one of it that was deleted. */
  readonly jsonKey: string
  readonly deletedKey: string
  /** Queries that were run, in order. */
  readonly executed: string[]
  /** Lines of JSON that were loaded, a text for each load that ran. */
  readonly loaded: string[]
  /** Where extracts are written; nowhere unless given. */
  storage: BigQueryStorage | undefined
  /** Called before a job runs, with its configuration. */
  before: ((configuration: object) => unknown) | undefined
  /** Bytes of the table of any result. */
  resultBytes: number
  /** Reasons with which the next jobs fail. */
  readonly failures: string[]
  readonly cancelled: string[]
  /** Pages that were given: where each began. */
  readonly given: number[]
  readonly tokensGiven: number
  /** Rows on a page at most. */
  pageRows: number
  /** How often a job answers that it still runs. */
  polls: number
  /** Bytes that any query reads. */
  bytesRead: number
  /** A fixed result for queries that match, in place of those of DuckDB. */
  canned: { readonly match: RegExp; readonly result: Result }[]
  run(statement: string): Promise<unknown>
  /** From now on, results that were made before are not kept any more. */
  forgetResults(): void
  expireTokens(): void
  close(): Promise<void>
}

export const testServerName = 'a server that keeps to the rules of BigQuery, with DuckDB behind it'

const project = 'example-project'
const location = 'europe-west3'
const datasetNames = ['crm', 'logs', 'web']
const macros = [
  'create schema crm',
  'create macro to_hex(x) as x',
  'create macro to_json_string(x) as to_json(x)::varchar',
  ...loadMacros,
]
/** The same query for DuckDB. */
const translate = (text: string): string =>
  translateLoaded(text).replaceAll('`', '"').replaceAll(`"${project}".`, '').replaceAll('@', '$')

/** @param accounts that give its tokens; its own unless given */
export async function startBigQueryServer(
  accounts: GoogleAccounts = makeGoogleAccounts(['bigquery', 'cloud-platform']),
): Promise<BigQueryServer> {
  const engine = await startEngine(macros)
  const tables = makeBigQueryTables(engine, project, location)
  const jobs = new Map<string, Job>()

  type Reply = { status: number; headers: Record<string, string>; body: string }
  const reply = (status: number, body: object): Reply => ({
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify(body),
  })
  const errorOf = ({ reason, message }: Refusal) => ({ reason, message, location: 'query' })

  const { proxy, close } = await startBehindProxy(
    ({ request, url, body }) => replyTo(request, url, body),
    (error) => {
      if (!(error instanceof Refusal)) return undefined
      const { status, message } = error
      return reply(status, { error: { code: status, message, errors: [{ domain: 'global', ...errorOf(error) }] } })
    },
  )

  async function replyTo(request: http.IncomingMessage, url: URL, body: Buffer): Promise<Reply> {
    if (url.host === 'oauth2.googleapis.com' || url.pathname === '/token') return accounts.give(request, body)
    if (url.host !== 'bigquery.googleapis.com' && url.host !== new URL(proxy.url).host)
      throw new Refusal(404, 'notFound')
    if (url.pathname === '/') return reply(404, {})
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (!accounts.accepts(token)) throw new Refusal(401, 'authError', 'Invalid Credentials')
    const [, upload, projectId = '', path = ''] =
      /^(\/upload)?\/bigquery\/v2\/projects\/([^/]+)(\/.*)$/.exec(url.pathname) ?? []
    if (projectId !== project) throw new Refusal(404, 'notFound', `Not found: Project ${projectId}`)
    // A parameter of all of Google's interfaces, which changes no answer.
    url.searchParams.delete('prettyPrint')
    if (upload) return insertUpload(request, url.searchParams, body, path)
    const [, datasetId] = /^\/datasets\/(\w+)$/.exec(path) ?? []
    if (datasetId !== undefined && request.method === 'GET') return reply(200, describeDataset(datasetId))
    const [, dataset, tableId] = /^\/datasets\/(\w+)\/tables(?:\/([\w-]+))?$/.exec(path) ?? []
    if (dataset !== undefined && dataset !== '_results' && (tableId !== undefined || request.method === 'POST')) {
      return onTable(request.method ?? '', dataset, tableId, body)
    }
    const [, kept] = /^\/datasets\/_results\/tables\/([\w-]+)$/.exec(path) ?? []
    if (kept !== undefined && request.method === 'GET') return reply(200, { numBytes: String(server.resultBytes) })
    const [, listed] = /^\/datasets(?:\/(\w+)\/tables)?$/.exec(path) ?? []
    if (request.method === 'GET' && path.startsWith('/datasets')) return list(listed, url.searchParams)
    const [, kind, id = '', verb] = /^\/(jobs|queries)(?:\/([\w-]+))?(\/cancel)?$/.exec(path) ?? []
    const asked = `${request.method} ${kind}${id === '' ? '' : '/*'}${verb ?? ''}`
    if (body.length > 0 && !request.headers['content-type']?.startsWith('application/json')) {
      throw new Refusal(400, 'parseError')
    }
    if (asked === 'POST jobs') return insert(JSON.parse(String(body)))
    const job = jobs.get(id)
    if (asked === 'GET jobs/*' && job) {
      const described = reply(200, describe(id, job))
      job.pollsLeft = Math.max(0, job.pollsLeft - 1)
      return described
    }
    if (!job || (url.searchParams.get('location') ?? location) !== job.location || !url.searchParams.has('location')) {
      throw new Refusal(404, 'notFound', `Not found: Job ${project}:${id}`)
    }
    if (asked === 'POST jobs/*/cancel') {
      server.cancelled.push(id)
      return reply(200, { job: describe(id, job) })
    }
    if (asked === 'GET queries/*') return give(job, id, url.searchParams)
    throw new Refusal(404, 'notFound')
  }

  /** Datasets, or tables of one, two on a page. */
  async function list(dataset: string | undefined, search: URLSearchParams): Promise<Reply> {
    const { maxResults = '1000', pageToken = '0', ...strange } = Object.fromEntries(search)
    if (Object.keys(strange).length > 0 || !/^\d+$/.test(maxResults) || !/^\d+$/.test(pageToken)) {
      throw new Refusal(400, 'invalidParameter')
    }
    if (dataset !== undefined && dataset !== 'crm') describeDataset(dataset)
    const { rows } = await engine.run(
      "select table_name, table_type from information_schema.tables where table_schema = 'crm' order by table_name",
    )
    const tables = rows.map(([tableId, type]) => ({
      kind: 'bigquery#table',
      tableReference: { projectId: project, datasetId: 'crm', tableId },
      type: type === 'VIEW' ? 'VIEW' : 'TABLE',
    }))
    const all = dataset === undefined ? datasetNames.map(describeDataset) : tables
    const end = Number(pageToken) + 2
    return reply(200, {
      [dataset === undefined ? 'datasets' : 'tables']: all.slice(end - 2, end),
      ...(end < all.length ? { nextPageToken: String(end) } : {}),
    })
  }

  function describeDataset(datasetId: string): object {
    if (!datasetNames.includes(datasetId)) throw new Refusal(404, 'notFound', `Not found: Dataset ${datasetId}`)
    return {
      kind: 'bigquery#dataset',
      datasetReference: { projectId: project, datasetId },
      ...(datasetId === 'crm' ? { friendlyName: 'Customers' } : {}),
    }
  }

  const describe = (jobId: string, job: Job) => {
    const errors = job.errors ?? (job.failed ? [errorOf(job.failed)] : [])
    return {
      kind: 'bigquery#job',
      jobReference: { projectId: project, jobId, location: job.location },
      status: {
        state: job.pollsLeft > 0 ? 'RUNNING' : 'DONE',
        // A job that runs has no errors yet, and one without errors has no list of them.
        ...(job.pollsLeft === 0 && job.failed ? { errorResult: errorOf(job.failed) } : {}),
        ...(job.pollsLeft === 0 && errors.length > 0 ? { errors } : {}),
      },
      configuration: {
        query: { destinationTable: { projectId: project, datasetId: '_results', tableId: jobId.replaceAll('-', '_') } },
      },
      ...(job.statistics === undefined ? {} : { statistics: job.statistics }),
      ...(job.files === undefined
        ? {}
        : { statistics: { extract: { destinationUriFileCounts: [String(job.files)] } } }),
    }
  }

  type Configuration = {
    query: {
      query: string
      useLegacySql: boolean
      maximumBytesBilled?: string
      parameterMode?: string
      queryParameters?: { name: string; parameterType: { type: string }; parameterValue: { value: string } }[]
      defaultDataset?: { projectId: string; datasetId: string }
    }
    dryRun?: boolean
    jobTimeoutMs?: string
    labels?: Record<string, string>
  }
  type Body = { jobReference?: { projectId: string; jobId: string }; configuration: Configuration }

  async function insert({ jobReference, configuration, ...strange }: Body): Promise<Reply> {
    if ('extract' in configuration) {
      const {
        extract,
        labels: _,
        ...others
      } = configuration as unknown as {
        extract: ExtractConfiguration
        labels: object
      }
      if (Object.keys({ ...others, ...strange }).length > 0) throw new Refusal(400, 'invalid', 'a field is not known')
      return insertJob(
        jobReference,
        async () => {
          const { datasetId, tableId } = extract.sourceTable
          const result = [...jobs].find(([id]) => datasetId === '_results' && id.replaceAll('-', '_') === tableId)?.[1]
          if (!result || result.gone) return { fields: [], rows: [], failed: new Refusal(404, 'notFound') }
          return { fields: [], rows: [], ...extractResult(result, extract, server.storage, server.resultBytes) }
        },
        configuration,
      )
    }
    if ('load' in configuration) {
      const { load } = configuration as unknown as { load: FilesConfiguration }
      return insertJob(jobReference, () => loadJob(load), configuration)
    }
    const { query: asked, dryRun = false, jobTimeoutMs = '1', labels = {}, ...more } = configuration
    const { query, useLegacySql, maximumBytesBilled = '1000000000', parameterMode, ...rest } = asked
    const { queryParameters = [], defaultDataset, ...unknown } = rest
    if (Object.keys({ ...strange, ...more, ...unknown }).length > 0 || useLegacySql !== false) {
      throw new Refusal(400, 'invalid', 'a field is not known')
    }
    const isLabel = ([key, value]: [string, string]) => /^[a-z][a-z0-9_-]*$/.test(key) && /^[a-z0-9_-]*$/.test(value)
    if (!/^\d+$/.test(jobTimeoutMs) || !/^\d+$/.test(maximumBytesBilled) || !Object.entries(labels).every(isLabel)) {
      throw new Refusal(400, 'invalid', 'a value is not what it should be')
    }
    if (defaultDataset && (defaultDataset.projectId !== project || defaultDataset.datasetId !== 'crm')) {
      throw new Refusal(404, 'notFound', `Not found: Dataset ${project}:${defaultDataset.datasetId}`)
    }
    if (queryParameters.length > 0 && parameterMode?.toUpperCase() !== 'NAMED')
      throw new Refusal(400, 'invalid', 'parameterMode')
    const values = Object.fromEntries(queryParameters.map((each) => [each.name, typedValue(each)]))
    if (server.bytesRead > Number(maximumBytesBilled) && !dryRun) {
      throw new Refusal(400, 'bytesBilledLimitExceeded', 'Query exceeded limit for bytes billed')
    }
    if (dryRun) {
      const examined = await resultOf(`${query} limit 0`, values)
      const { fields, failed } = examined
      if (failed) throw failed
      return reply(200, {
        jobReference: { projectId: project, location },
        status: { state: 'DONE' },
        statistics: { totalBytesProcessed: String(server.bytesRead), query: { schema: { fields } } },
      })
    }
    return insertJob(
      jobReference,
      async () => {
        server.executed.push(query)
        return resultOf(query, values)
      },
      configuration,
    )
  }

  /** Runs a job under its ID, which no other job gets; it fails if `failures` has a reason. */
  async function insertJob(
    reference: Body['jobReference'],
    run: () => Promise<
      Result & { failed?: Refusal; errors?: readonly LoadError[]; files?: number; statistics?: object }
    >,
    configuration: object = {},
  ): Promise<Reply> {
    const { jobId = '', projectId } = reference ?? {}
    if (!/^[\w-]{1,1024}$/.test(jobId) || projectId !== project) throw new Refusal(400, 'invalid', 'jobReference')
    if (jobs.has(jobId)) throw new Refusal(409, 'duplicate', `Already Exists: Job ${jobId}`)
    await server.before?.(configuration)
    const reason = server.failures.shift()
    const result = reason === undefined ? await run() : { fields: [], rows: [], failed: new Refusal(200, reason) }
    const job = { ...result, location, pollsLeft: server.polls, gone: false }
    jobs.set(jobId, job)
    return reply(200, describe(jobId, { ...job, pollsLeft: 1 }))
  }

  /** A load of files of the storage. */
  async function loadJob(load: FilesConfiguration) {
    const none = { fields: [], rows: [] }
    const { buckets } = server.storage ?? {}
    if (!buckets) return { ...none, failed: new Refusal(403, 'accessDenied', 'Access Denied: BigQuery') }
    try {
      const read = (bucket: string, name: string) => buckets.get(bucket)?.get(name)?.bytes
      const { statistics, warnings } = await loadFilesInto(engine, load, read)
      return { ...none, statistics, errors: warnings }
    } catch (error) {
      if (error instanceof Refusal) return { ...none, failed: error }
      throw error
    }
  }

  /** A load whose rows come with it, as the two parts of a body. */
  async function insertUpload(request: http.IncomingMessage, search: URLSearchParams, body: Buffer, path: string) {
    const [, boundary = ''] = /^multipart\/related; boundary=(\S+)$/.exec(request.headers['content-type'] ?? '') ?? []
    const parts = body.toString().split(`--${boundary}`)
    if (path !== '/jobs' || search.toString() !== 'uploadType=multipart' || boundary === '' || parts.length !== 4) {
      throw new Refusal(400, 'invalid', 'upload')
    }
    const [json = '', lines = ''] = parts.slice(1, 3).map((part) => part.slice(part.indexOf('\r\n\r\n') + 4, -2))
    const { jobReference, configuration } = JSON.parse(json) as {
      jobReference: Body['jobReference']
      configuration: { load: LoadConfiguration }
    }
    return insertJob(jobReference, async () => {
      server.loaded.push(lines)
      const errors = await tables.load(configuration.load, lines)
      const [first] = errors
      return {
        fields: [],
        rows: [],
        errors,
        ...(first ? { failed: new Refusal(200, first.reason, first.message) } : {}),
      }
    })
  }

  async function onTable(method: string, dataset: string, tableId: string | undefined, body: Buffer): Promise<Reply> {
    if (dataset !== 'crm') throw new Refusal(404, 'notFound', `Not found: Dataset ${dataset}`)
    if (method === 'POST' && tableId === undefined) return reply(200, await tables.create(JSON.parse(String(body))))
    if (method === 'GET' && tableId !== undefined) return reply(200, await tables.describe(tableId))
    if (method !== 'DELETE' || tableId === undefined) throw new Refusal(404, 'notFound')
    await tables.drop(tableId)
    return { status: 204, headers: {}, body: '' }
  }

  async function resultOf(
    query: string,
    values: Record<string, string>,
  ): Promise<Result & { failed?: Refusal; statistics?: object }> {
    const canned = server.canned.find(({ match }) => match.test(query))
    if (canned) return canned.result
    try {
      const [, verb, into = ''] = /^(insert|merge) into (\S+)/.exec(query) ?? []
      const isWhole = verb === 'merge' && query.includes(' on false')
      if (verb === 'insert' || isWhole) {
        const count = async () =>
          Number((await engine.run(translate(`select count(*) from ${into}`), {})).rows[0]?.[0] ?? 0)
        const before = await count()
        await engine.run(translate(query), values)
        const insertedRowCount = String((await count()) - (isWhole ? 0 : before))
        return { fields: [], rows: [], statistics: { query: { dmlStats: { insertedRowCount } } } }
      }
      if (/^(merge|truncate|delete) /.test(query)) {
        await engine.run(translate(query), values)
        return { fields: [], rows: [] }
      }
      const { columns, rows } = await engine.run(`select * from (${translate(query)})`, values)
      const fields = columns.map(({ name, type }) => ({ name, type: typeOf(type), mode: 'NULLABLE' }))
      return { fields, rows: rows.map((row) => row.map((text, at) => rawOf(text, fields[at]?.type ?? ''))) }
    } catch (error) {
      const message = String(error).replace(/^Error: /, '')
      if (message.includes('Catalog Error')) {
        return { fields: [], rows: [], failed: new Refusal(404, 'notFound', `Not found: Table ${project}:crm`) }
      }
      const shown = message.includes('Parser Error') ? `Syntax error: ${message.split('\n')[0]} at [1:8]` : message
      return { fields: [], rows: [], failed: new Refusal(400, 'invalidQuery', shown) }
    }
  }

  function give(job: Job, jobId: string, search: URLSearchParams): Reply {
    const { location: _, maxResults, startIndex, pageToken, timeoutMs, ...strange } = Object.fromEntries(search)
    const { 'formatOptions.useInt64Timestamp': exact, ...unknown } = strange
    const isPlacedTwice = startIndex !== undefined && pageToken !== undefined
    const numbers = [maxResults, startIndex, timeoutMs].filter((each) => each !== undefined)
    if (
      Object.keys(unknown).length > 0 ||
      exact !== 'true' ||
      isPlacedTwice ||
      !numbers.every((each) => /^\d+$/.test(each))
    ) {
      throw new Refusal(400, 'invalidParameter')
    }
    if (job.gone) throw new Refusal(404, 'notFound', `Not found: Table ${project}:_anonymous.${jobId}`)
    const jobReference = { projectId: project, jobId, location: job.location }
    if (job.pollsLeft-- > 0)
      return reply(200, { kind: 'bigquery#getQueryResultsResponse', jobReference, jobComplete: false })
    if (job.failed) throw job.failed
    const [, tokenJob, tokenRow] = /^(.+)@(\d+)$/.exec(pageToken ?? '') ?? []
    if (pageToken !== undefined && tokenJob !== jobId) throw new Refusal(400, 'invalidParameter')
    const first = Number(startIndex ?? tokenRow ?? 0)
    server.given.push(first)
    const rows = job.rows.slice(first, first + Math.min(Number(maxResults ?? server.pageRows), server.pageRows))
    const next = first + rows.length
    return reply(200, {
      kind: 'bigquery#getQueryResultsResponse',
      jobReference,
      jobComplete: true,
      schema: { fields: job.fields },
      totalRows: String(job.rows.length),
      cacheHit: false,
      ...(rows.length > 0 ? { rows: rows.map((row) => ({ f: row.map((v) => ({ v })) })) } : {}),
      ...(next < job.rows.length ? { pageToken: `${jobId}@${next}` } : {}),
    })
  }

  const { jsonKey, deletedKey } = accounts
  const server: BigQueryServer = {
    proxy,
    jsonKey,
    deletedKey,
    executed: [],
    loaded: [],
    storage: undefined,
    before: undefined,
    resultBytes: 1000,
    failures: [],
    cancelled: [],
    given: [],
    canned: [],
    routes: { 'https://bigquery.googleapis.com': proxy.url, 'https://oauth2.googleapis.com': proxy.url },
    pageRows: 3000,
    polls: 0,
    bytesRead: 1000,
    get tokensGiven() {
      return accounts.tokensGiven
    },
    run: (statement) => engine.run(statement),
    forgetResults() {
      for (const job of jobs.values()) job.gone = true
    },
    expireTokens: () => accounts.expireTokens(),
    async close() {
      await close()
      engine.close()
    },
  }
  return server
}

/** The forms of values that BigQuery takes for parameters of a type. */
const forms: Readonly<Record<string, RegExp>> = {
  INT64: /^-?\d+$/,
  NUMERIC: /^-?\d+(\.\d+)?$/,
  STRING: /^/,
  BOOL: /^(true|false)$/,
  DATE: /^\d{4}-\d\d-\d\d$/,
  DATETIME: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?$/,
  TIMESTAMP: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/,
}

function typedValue({
  name,
  parameterType: { type },
  parameterValue: { value },
}: {
  name: string
  parameterType: { type: string }
  parameterValue: { value: string }
}): string {
  if (!/^[A-Za-z_]\w*$/.test(name) || !forms[type]?.test(value)) {
    throw new Refusal(400, 'invalidQuery', `Could not parse a parameter of the type ${type}`)
  }
  return value
}

/** A value as BigQuery writes it. */
function rawOf(text: string | null, type: string): string | null {
  if (text === null) return null
  if (type === 'DATETIME') return text.replace(' ', 'T')
  if (type === 'TIMESTAMP') return `${Date.parse(`${text.replace(' ', 'T')}Z`) / 1000}000000`
  return text
}
