import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import {
  accountFields,
  answerQuery,
  type Query,
  refusal,
  type SalesforceField,
  type SalesforceRecord,
  stamp,
  table,
} from './salesforce-queries.ts'

/**
 * Salesforce as far as objects and Bulk API 2.0 go, written from its documents: tokens of both flows, jobs by their states, tables of
 * results that are not in the order of the rows, query results by locators. It refuses everything that it does not know.
 */

type Outcome = { row: string[]; id?: string; created?: boolean; error?: string }
type Job = {
  id: string
  object: string
  operation: string
  externalIdFieldName?: string
  state: string
  createdDate: string
  errorMessage?: string
  columns: string[]
  rows: string[][]
  outcomes: Outcome[]
  asks: number
}
export type SalesforceServer = PlatformServer & {
  readonly records: SalesforceRecord[]
  readonly jobs: Job[]
  readonly queries: Query[]
  readonly fields: SalesforceField[]
  /** How jobs are processed. `stops`: after so many rows, the job ends as failed. */
  processing: {
    asksBeforeDone: number
    locks: number
    stops: number | undefined
    fails: string | undefined
    spoils: boolean
  }
  /** Results of queries have pages of at most so many rows, and columns in the other order if `reversed`. */
  results: { pageRows: number; reversed: boolean }
  instanceUrl: string | undefined
  expireTokens(): void
  reset(): void
}

export const myDomain = 'penstock-test.my.salesforce.com'
export const salesforceSecrets = {
  authType: 'client-credentials',
  myDomain,
  serviceClientId: '3MVG9-service',
  serviceClientSecret: 'sf-service-secret',
}
export const salesforceUser = {
  clientId: '3MVG9-app',
  clientSecret: 'sf-app-secret',
  refreshToken: '5Aep861-refresh',
}
export const salesforceRoutes = (url: string) => ({
  [`https://${myDomain}`]: url,
  'https://login.salesforce.com': url,
  'https://test.salesforce.com': url,
})

const base = '/services/data/v64.0'
const both = { createable: true, updateable: true, nillable: true }
const contactFields: SalesforceField[] = [
  { name: 'Id', type: 'id', idLookup: true },
  { name: 'LastName', type: 'string', ...both, nillable: false },
  { name: 'Email', type: 'email', ...both },
  { name: 'Customer_Key__c', type: 'string', externalId: true, idLookup: true, ...both },
  { name: 'Age__c', type: 'int', ...both },
  { name: 'Score__c', type: 'double', ...both },
  { name: 'HasOptedOutOfEmail', type: 'boolean', ...both, nillable: false },
  { name: 'AccountId', type: 'reference', relationshipName: 'Account', referenceTo: ['Account'], ...both },
  { name: 'OwnerId', type: 'reference', relationshipName: 'Owner', referenceTo: ['User', 'Group'] },
  { name: 'MailingAddress', type: 'address' },
  { name: 'Photo__c', type: 'base64', ...both },
  { name: 'IsDeleted', type: 'boolean' },
  { name: 'SystemModstamp', type: 'datetime' },
]

/** IDs have 15 characters, to which 3 more can be added. */
const isSame = (one = '', other = '', key = '') =>
  key === 'Id' ? one.slice(0, 15) === other.slice(0, 15) : one.toLowerCase() === other.toLowerCase()

/** Reads what Salesforce takes: commas, LF, quotes. Throws if it is not that. */
function parse(text: string): string[][] {
  if (text.includes('\r')) throw new Error('CR')
  const rows: string[][] = []
  const cell = /("(?:[^"]|"")*"|[^",\n]*)(,|\n)/y
  let row: string[] = []
  while (cell.lastIndex < text.length) {
    const [, value = '', end] = cell.exec(text) ?? []
    if (end === undefined) throw new Error('no CSV')
    row.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

export async function startSalesforce(): Promise<SalesforceServer> {
  const records: SalesforceRecord[] = []
  const jobs: Job[] = []
  const queries: Query[] = []
  const fields = [...contactFields]
  const processing: SalesforceServer['processing'] = {
    asksBeforeDone: 0,
    locks: 0,
    stops: undefined,
    fails: undefined,
    spoils: false,
  }
  const results: SalesforceServer['results'] = { pageRows: 100_000, reversed: false }
  let tokens = 0
  let good = ''
  let ids = 0
  const idOf = (prefix: string) => `${prefix}${String(++ids).padStart(12, '0')}AAA`
  const jsonOf = ({ columns: _c, rows: _r, outcomes, asks: _a, errorMessage, ...job }: Job, listed = false) => ({
    ...job,
    contentType: 'CSV',
    apiVersion: 64,
    jobType: 'V2Ingest',
    lineEnding: 'LF',
    ...(errorMessage && { errorMessage }),
    ...(!listed && {
      numberRecordsProcessed: outcomes.length,
      numberRecordsFailed: outcomes.filter(({ error }) => error !== undefined).length,
    }),
  })

  function answer(received: Received): Reply {
    const { method, path, headers } = received
    const route = `${method} ${path}`
    if (route === 'GET /') return { status: 200, text: '<html>' }
    if (route === 'POST /services/oauth2/token') return token(received)
    if (headers.authorization !== `Bearer ${good}`) return refusal(401, 'INVALID_SESSION_ID')
    if (!path.startsWith(base)) return refusal(404, 'NOT_FOUND')
    const rest = path.slice(base.length)
    if (method === 'GET' && rest === '/') return { json: { sobjects: `${base}/sobjects` } }
    if (method === 'GET' && rest === '/sobjects') return { json: { encoding: 'UTF-8', sobjects: [contact(), task] } }
    const [, described] = /^\/sobjects\/(\w+)\/describe$/.exec(rest) ?? []
    if (method === 'GET' && described) {
      if (described === 'Account') {
        return { json: { ...contact(), name: 'Account', label: 'Company', fields: accountFields.map(shown) } }
      }
      return described.toLowerCase() === 'contact'
        ? { json: { ...contact(), fields: fields.map(shown) } }
        : refusal(404, 'NOT_FOUND')
    }
    if (rest.startsWith('/jobs/ingest')) return ingest(received, rest)
    if (rest.startsWith('/jobs/query'))
      return answerQuery({ records, queries, fields, processing, results, idOf }, received, rest)
    return refusal(404, 'NOT_FOUND')
  }

  const can = { queryable: true, createable: true, updateable: true, deletable: true }
  const contact = () => ({ name: 'Contact', label: 'Person', ...can })
  const task = {
    name: 'Login',
    label: 'Login',
    queryable: true,
    createable: false,
    updateable: false,
    deletable: false,
  }
  const shown = (field: SalesforceField) => ({
    label: field.name,
    createable: false,
    updateable: false,
    externalId: false,
    idLookup: false,
    nillable: true,
    defaultedOnCreate: field.type === 'boolean',
    caseSensitive: false,
    relationshipName: null,
    ...field,
  })

  function token({ text, headers }: Received): Reply {
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return { status: 415, text: '' }
    const form = Object.fromEntries(new URLSearchParams(text))
    const isService = form.grant_type === 'client_credentials'
    const wanted = isService
      ? {
          grant_type: 'client_credentials',
          client_id: salesforceSecrets.serviceClientId,
          client_secret: salesforceSecrets.serviceClientSecret,
        }
      : {
          grant_type: 'refresh_token',
          client_id: salesforceUser.clientId,
          client_secret: salesforceUser.clientSecret,
          refresh_token: salesforceUser.refreshToken,
        }
    if (form.client_secret !== wanted.client_secret)
      return { status: 400, json: { error: 'invalid_client', error_description: 'x' } }
    if (JSON.stringify(Object.entries(form).sort()) !== JSON.stringify(Object.entries(wanted).sort())) {
      return { status: 400, json: { error: 'invalid_grant', error_description: 'expired access/refresh token' } }
    }
    good = `00D!sf-access-${++tokens}`
    return {
      json: {
        access_token: good,
        instance_url: server.instanceUrl,
        token_type: 'Bearer',
        issued_at: '1',
        scope: 'api',
        signature: 'x',
        id: 'https://login.salesforce.com/id/x/y',
      },
    }
  }

  function ingest({ method, query: search, headers, json, text }: Received, rest: string): Reply {
    const body = (json ?? {}) as Record<string, string>
    if (rest === '/jobs/ingest' && method === 'POST') {
      const {
        object,
        operation,
        contentType = 'CSV',
        lineEnding = 'LF',
        columnDelimiter = 'COMMA',
        externalIdFieldName,
        ...others
      } = body
      if (Object.keys(others).length > 0 || contentType !== 'CSV' || lineEnding !== 'LF' || columnDelimiter !== 'COMMA')
        return refusal(400, 'INVALIDJOB')
      if (object !== 'Contact' || !['insert', 'update', 'upsert', 'delete'].includes(operation ?? ''))
        return refusal(400, 'INVALIDENTITY')
      if ((operation === 'upsert') !== (externalIdFieldName !== undefined)) return refusal(400, 'INVALIDJOB')
      const job: Job = {
        id: idOf('750'),
        object,
        operation: operation ?? '',
        ...(externalIdFieldName && { externalIdFieldName }),
        state: 'Open',
        createdDate: stamp(),
        columns: [],
        rows: [],
        outcomes: [],
        asks: 0,
      }
      jobs.push(job)
      return { json: jsonOf(job) }
    }
    if (rest === '/jobs/ingest' && method === 'GET') {
      if (search.get('jobType') !== 'V2Ingest') return refusal(400, 'INVALID')
      const from = Number(search.get('queryLocator')?.slice(1) ?? 0)
      const next = from + 2 < jobs.length ? `${base}/jobs/ingest?queryLocator=L${from + 2}` : null
      return {
        json: {
          done: next === null,
          nextRecordsUrl: next,
          records: jobs.slice(from, from + 2).map((job) => jsonOf(job, true)),
        },
      }
    }
    const [, id, kind] = /^\/jobs\/ingest\/(\w{15,18})(?:\/(\w+))?$/.exec(rest) ?? []
    const job = jobs.find((one) => one.id === id)
    if (!job) return refusal(404, 'NOT_FOUND')
    if (method === 'PUT' && kind === 'batches') {
      if (!/^text\/csv/.test(String(headers['content-type']))) return refusal(415, 'INVALID_CONTENT_TYPE')
      // A second upload is refused.
      if (job.state !== 'Open' || job.columns.length > 0) return refusal(400, 'INVALIDJOBSTATE')
      const [columns = [], ...rows] = parse(text)
      Object.assign(job, { columns, rows })
      return { status: 201, text: '' }
    }
    if (method === 'PATCH' && kind === undefined) {
      if (body.state === 'UploadComplete' && job.state === 'Open') job.state = 'UploadComplete'
      else if (body.state === 'Aborted' && !['JobComplete', 'Failed'].includes(job.state)) job.state = 'Aborted'
      else return refusal(400, 'INVALIDJOBSTATE')
      return { json: jsonOf(job) }
    }
    if (method !== 'GET') return refusal(405, 'METHOD_NOT_ALLOWED')
    if (kind === undefined) {
      if (['UploadComplete', 'InProgress'].includes(job.state)) {
        job.state = 'InProgress'
        if (job.asks++ >= processing.asksBeforeDone) process(job)
      }
      return { json: jsonOf(job) }
    }
    // Results are in no order.
    const reversed = [...job.outcomes].reverse()
    if (kind === 'successfulResults') {
      const good = reversed.filter(({ error }) => error === undefined)
      return table(
        ['sf__Id', 'sf__Created', ...job.columns],
        good.map(({ id = '', created, row }) => [id, String(created === true), ...row]),
      )
    }
    if (kind === 'failedResults') {
      const bad = reversed.filter(({ error }) => error !== undefined)
      return table(
        ['sf__Id', 'sf__Error', ...job.columns],
        bad.map(({ id = '', error = '', row }) => [id, error, ...row]),
      )
    }
    if (kind === 'unprocessedrecords')
      return table(job.columns, ['Failed', 'Aborted'].includes(job.state) ? job.rows.slice(job.outcomes.length) : [])
    return refusal(404, 'NOT_FOUND')
  }

  /** Stores the rows of a job, one after the other. */
  function process(job: Job): void {
    const unknown = job.columns.find(
      (name) => !name.includes('.') && !fields.some((field) => field.name.toLowerCase() === name.toLowerCase()),
    )
    if (processing.fails !== undefined || unknown !== undefined) {
      Object.assign(job, {
        state: 'Failed',
        errorMessage: processing.fails ?? `InvalidBatch : Field name not found : ${unknown}`,
      })
      processing.fails = undefined
      return
    }
    const until = processing.stops ?? job.rows.length
    processing.stops = undefined
    job.outcomes = job.rows.slice(0, until).map((row) => ({ row, ...store(job, row) }))
    // The results then show other values than the rows that were sent.
    if (processing.spoils)
      job.outcomes = job.outcomes.map((one) => ({ ...one, row: one.row.map((cell) => `${cell}?`) }))
    job.state = until < job.rows.length ? 'Failed' : 'JobComplete'
    if (job.state === 'Failed') job.errorMessage = 'InternalServerError : Timed out too many times'
  }

  function store(job: Job, row: string[]): Omit<Outcome, 'row'> {
    const cells = Object.fromEntries(
      job.columns.map((name, at) => [
        fields.find((field) => field.name.toLowerCase() === name.toLowerCase())?.name ?? name,
        row[at] ?? '',
      ]),
    )
    const { operation } = job
    const key = operation === 'upsert' ? (job.externalIdFieldName ?? '') : 'Id'
    const found =
      operation === 'insert'
        ? undefined
        : records.find((one) => one.IsDeleted !== 'true' && isSame(one[key], cells[key], key))
    if (cells.LastName === 'Locked' && processing.locks > 0) {
      processing.locks--
      return { error: 'UNABLE_TO_LOCK_ROW:unable to obtain exclusive access to this record:--' }
    }
    if (operation === 'insert' && cells.Id)
      return { error: 'INVALID_FIELD_FOR_INSERT_UPDATE:cannot specify Id in an insert call:Id --' }
    if ((operation === 'update' || operation === 'delete') && !found)
      return { error: 'ENTITY_IS_DELETED:entity is deleted:--' }
    if (cells.Email && cells.Email !== '#N/A' && !cells.Email.includes('@'))
      return { error: `INVALID_EMAIL_ADDRESS:Email: invalid email address: ${cells.Email}:Email --` }
    if (!found && !cells.LastName)
      return { error: 'REQUIRED_FIELD_MISSING:Required fields are missing: [LastName]:LastName --' }
    if (found && operation === 'delete') {
      found.IsDeleted = 'true'
      return { id: found.Id ?? '', created: false }
    }
    const record: SalesforceRecord = found ?? { Id: idOf('003'), IsDeleted: 'false' }
    for (const [name, cell] of Object.entries(cells)) {
      if (name === 'Id' || cell === '') continue
      if (cell === '#N/A') delete record[name]
      else record[name] = cell
    }
    record.SystemModstamp = new Date().toISOString()
    if (!found) records.push(record)
    return { id: record.Id ?? '', created: !found }
  }

  const server = Object.assign(await startPlatform(answer), {
    records,
    jobs,
    queries,
    fields,
    processing,
    results,
    instanceUrl: `https://${myDomain}` as string | undefined,
    expireTokens() {
      good = ''
    },
    reset() {
      for (const list of [records, jobs, queries]) list.length = 0
      Object.assign(processing, { asksBeforeDone: 0, locks: 0, stops: undefined, fails: undefined, spoils: false })
      Object.assign(results, { pageRows: 100_000, reversed: false })
    },
  })
  return server
}
