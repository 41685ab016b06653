import type { Received, Reply } from './platform-server.ts'

/** Query jobs of the test server of Salesforce, and what they share with its other jobs. */

export type SalesforceField = {
  name: string
  type: string
  createable?: boolean
  updateable?: boolean
  externalId?: boolean
  idLookup?: boolean
  nillable?: boolean
  relationshipName?: string
  referenceTo?: readonly string[]
}
/** The fields of the account of a contact. */
export const accountFields: readonly SalesforceField[] = [
  { name: 'Id', type: 'id' },
  { name: 'Name', type: 'string' },
  { name: 'NumberOfEmployees', type: 'int' },
]
export type SalesforceRecord = Record<string, string>
export type Query = {
  id: string
  query: string
  operation: string
  state: string
  createdDate: string
  errorMessage?: string
  table: string[][]
  asks: number
}

export const refusal = (status: number, errorCode: string): Reply => ({
  status,
  json: [{ errorCode, message: 'may quote jane@example.com' }],
})
const quoted = (row: readonly string[]) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`
export const table = (columns: readonly string[], rows: readonly (readonly string[])[]): Reply => ({
  headers: { 'content-type': 'text/csv' },
  text: [columns, ...rows].map(quoted).join(''),
})
/** Salesforce writes times so. */
export const stamp = (ms = Date.now()) => new Date(ms).toISOString().replace(/\.\d+Z$/, '.000+0000')

/** State of the server. */
type Shared = {
  readonly records: readonly SalesforceRecord[]
  readonly queries: Query[]
  readonly fields: readonly SalesforceField[]
  readonly processing: { asksBeforeDone: number; fails: string | undefined }
  readonly results: { pageRows: number; reversed: boolean }
  readonly idOf: (prefix: string) => string
}

/** Answers a request for a query job. @param rest its path behind the version */
export function answerQuery(
  { records, queries, fields, processing, results, idOf }: Shared,
  { method, json, query: search }: Received,
  rest: string,
): Reply {
  const body = (json ?? {}) as Record<string, string>
  if (rest === '/jobs/query' && method === 'POST') {
    if (Object.keys(body).sort().join() !== 'operation,query') return refusal(400, 'INVALIDJOB')
    const soql = body.query ?? ''
    const [, list = '', object, since, before, limit] =
      /^SELECT (.+?) FROM (\w+)(?: WHERE SystemModstamp >= (\S+Z)(?: AND SystemModstamp < (\S+Z))?(?: AND \(LastName != null\))?)?(?: LIMIT (\d+))?$/.exec(
        soql,
      ) ?? []
    if (object !== 'Contact') return refusal(400, 'MALFORMED_QUERY')
    const names = list.split(', ')
    const all = [...fields, ...accountFields.map((field) => ({ ...field, name: `Account.${field.name}` }))]
    const chosen = names.map((name) => all.find((field) => field.name === name))
    if (chosen.some((field) => field === undefined || ['address', 'base64'].includes(field.type)))
      return refusal(400, 'INVALID_FIELD')
    const found = records.filter(
      (one) =>
        (body.operation === 'queryAll' || one.IsDeleted !== 'true') &&
        (since === undefined || (one.SystemModstamp ?? '') >= since) &&
        (before === undefined || (one.SystemModstamp ?? '') < before),
    )
    const rows = found.slice(0, Number(limit ?? found.length)).map((one) => names.map((name) => one[name] ?? ''))
    const whole = [names, ...rows]
    const job: Query = {
      id: idOf('750'),
      query: soql,
      operation: body.operation ?? '',
      state: 'UploadComplete',
      createdDate: stamp(),
      table: results.reversed ? whole.map((row) => [...row].reverse()) : whole,
      asks: 0,
    }
    queries.push(job)
    return { json: { id: job.id, operation: job.operation, object, state: job.state, createdDate: job.createdDate } }
  }
  const [, id, kind] = /^\/jobs\/query\/(\w{15,18})(?:\/(results))?$/.exec(rest) ?? []
  const job = queries.find((one) => one.id === id)
  if (!job) return refusal(404, 'NOT_FOUND')
  const { table: lines, createdDate, errorMessage, query: _q, ...shownJob } = job
  if (method === 'PATCH' && kind === undefined) {
    if (body.state !== 'Aborted' || job.state === 'JobComplete') return refusal(400, 'INVALIDJOBSTATE')
    job.state = 'Aborted'
    return { json: shownJob }
  }
  if (method !== 'GET') return refusal(405, 'METHOD_NOT_ALLOWED')
  if (kind === undefined) {
    if (job.state === 'UploadComplete' && job.asks++ >= processing.asksBeforeDone) {
      job.state = processing.fails === undefined ? 'JobComplete' : 'Failed'
      if (processing.fails !== undefined) job.errorMessage = processing.fails
      processing.fails = undefined
    }
    return {
      json: {
        ...shownJob,
        createdDate,
        state: job.state,
        ...(job.errorMessage && { errorMessage: job.errorMessage }),
        numberRecordsProcessed: lines.length - 1,
      },
    }
  }
  if (job.state !== 'JobComplete') return refusal(400, 'INVALIDJOBSTATE')
  const at = Number(Buffer.from(search.get('locator') ?? '', 'base64').toString() || 0)
  const size = Math.min(Number(search.get('maxRecords') ?? results.pageRows), results.pageRows)
  if (!(size >= 1)) return refusal(400, 'INVALID')
  const [columns = [], ...rows] = lines
  const page = rows.slice(at, at + size)
  const next = at + size < rows.length ? Buffer.from(String(at + size)).toString('base64') : 'null'
  const reply = table(columns, page)
  return {
    ...reply,
    headers: { ...reply.headers, 'sforce-locator': next, 'sforce-numberofrecords': String(page.length) },
  }
}
