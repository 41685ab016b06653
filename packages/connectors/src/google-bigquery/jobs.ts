import { randomUUID } from 'node:crypto'
import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { googleAccount } from '../google/account.ts'
import type { ServiceAccount } from '../google/service-account.ts'
import { discard, textOf } from '../object-stores/answers.ts'
import { encodeValue } from '../object-stores/place.ts'
import { type JsonObject, listIn, numberIn, objectIn, parseObject, textIn } from '../platform-api/json.ts'
import { pollUntilDone } from '../platform-api/polling.ts'
import { type FieldType, fieldsIn } from './cells.ts'
import { connectorErrorOf, connectorErrorOfJob } from './errors.ts'

export const origin = 'https://bigquery.googleapis.com'
const scope = 'https://www.googleapis.com/auth/bigquery'

/** The value of a parameter, which is a name with @ in a query. */
export type Parameter = { readonly name: string; readonly type: string; readonly value: string }

/** A query, and what bounds it. */
export type Query = {
  readonly projectId: string
  /** Of tables that the query names without one. */
  readonly dataset?: { readonly projectId: string; readonly datasetId: string } | undefined
  readonly text: string
  readonly parameters?: readonly Parameter[]
  readonly maximumBytesBilled?: number | undefined
  readonly timeoutMs: number
}

/** A job whose result BigQuery keeps. */
export type QueryJob = { readonly projectId: string; readonly id: string; readonly location: string | undefined }

/** Some rows of a result. */
export type ResultPage = {
  readonly rows: readonly unknown[]
  readonly total: number | undefined
  readonly pageToken: string | undefined
}

/** Speaks to BigQuery over its REST interface, version 2. A token that is not accepted any more is replaced once. */
export type BigQuery = {
  readonly account: ServiceAccount
  /**
   * Sends a request and reads its answer. Returns an empty object if the object to create exists already, which BigQuery
   * answers with 409.
   * @param path below `projects/`
   */
  ask(path: string, asked: Asked): Promise<JsonObject>
  /** Has a query examined, without running it. Resolves with the columns that it would give. */
  examine(query: Query): Promise<readonly FieldType[]>
  /** A page of the datasets of a project, or of the tables of a dataset. */
  list(of: { readonly projectId: string; readonly datasetId?: string }, pageToken?: string): Promise<JsonObject>
  /** Starts a query. The query can still be running when this resolves. */
  start(query: Query): Promise<QueryJob>
  /**
   * Waits for the result and returns rows of it, from an index or after a page. Throws `result_expired` if BigQuery no longer
   * keeps it.
   */
  page(job: QueryJob, from: { readonly startIndex: number } | { readonly pageToken: string }): Promise<ResultPage>
  /** Stops a query that no one waits for any more. Never throws. */
  cancel(job: QueryJob): Promise<void>
}

/** Rows in a page. BigQuery returns fewer if they exceed about 20 MB. */
const pageRows = 10_000
/** A page of 20 MB is a few times as large when it is written as JSON. */
const answerBytesMax = 128 << 20
/** BigQuery holds its answer so long while the query runs. */
const waitMs = 20_000
const timeoutMs = 120_000
const polling = { firstMs: 250, mostMs: 250, totalMs: Number.POSITIVE_INFINITY }

/** A request: GET without a body, else POST. */
export type Asked = {
  readonly method?: 'DELETE'
  readonly body?: unknown
  /** Rows that are uploaded with the body, which describes them: JSON, one row a line. */
  readonly upload?: string
  /** Whether it asks about a job that ran before. */
  readonly job?: boolean
  readonly signal?: AbortSignal
}

export function makeBigQuery(context: ConnectorContext): BigQuery {
  const account = googleAccount(context, scope)
  const send = (path: string, token: string, asked: Asked): Promise<Response> => {
    const { method, body, upload, signal = context.signal } = asked
    const content =
      upload === undefined ? { type: 'application/json', text: JSON.stringify(body) } : inParts(body, upload)
    return context.egress.request(`${origin}${upload === undefined ? '' : '/upload'}/bigquery/v2/projects/${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': content.type }),
      },
      ...(body === undefined ? {} : { body: content.text }),
      signal,
      timeoutMs,
    })
  }

  async function ask(path: string, asked: Asked): Promise<JsonObject> {
    const token = await account.token()
    let response = await send(path, token, asked)
    if (response.status === 401) {
      await discard(response)
      response = await send(path, await account.token(token), asked)
    }
    // An existing job is the requested one, because no one else knows its name.
    if (response.status === 409) {
      await discard(response)
      return {}
    }
    if (!response.ok) throw await connectorErrorOf(response, account.email, asked.job === true)
    if (response.status === 204) {
      await discard(response)
      return {}
    }
    return parseObject(await textOf(response, answerBytesMax))
  }

  return {
    account,
    ask,
    async examine(query) {
      const { projectId } = query
      const answer = await ask(`${encodeValue(projectId)}/jobs`, { body: { configuration: bodyOf(query, true) } })
      const { schema } = objectIn(objectIn(answer.statistics).query)
      return fieldsIn(objectIn(schema).fields)
    },

    async list({ projectId, datasetId }, pageToken) {
      const path = `${encodeValue(projectId)}/datasets${datasetId === undefined ? '' : `/${encodeValue(datasetId)}/tables`}`
      const search = new URLSearchParams({ maxResults: '1000', ...(pageToken === undefined ? {} : { pageToken }) })
      return await ask(`${path}?${search}`, {})
    },

    async start(query) {
      const { projectId } = query
      const id = `penstock_${randomUUID()}`
      const path = `${encodeValue(projectId)}/jobs`
      const body = { jobReference: { projectId, jobId: id }, configuration: bodyOf(query, false) }
      let answer: JsonObject
      try {
        answer = await ask(path, { body })
      } catch (error) {
        if (asConnectorError(error)?.code !== 'connection_lost') throw error
        answer = await ask(path, { body })
      }
      const { errorResult } = objectIn(answer.status)
      if (errorResult !== undefined) throw connectorErrorOfJob(errorResult)
      // If the first answer was lost, the second one does not contain the location. BigQuery finds jobs in most locations
      // without it.
      const location = textIn(objectIn(answer.jobReference).location) ?? (await locate(projectId, id))
      return { projectId, id, location }
    },

    async page({ projectId, id, location }, from) {
      const search = new URLSearchParams({
        ...(location === undefined ? {} : { location }),
        ...('pageToken' in from ? { pageToken: from.pageToken } : { startIndex: String(from.startIndex) }),
        maxResults: String(pageRows),
        timeoutMs: String(waitMs),
        'formatOptions.useInt64Timestamp': 'true',
      })
      const path = `${encodeValue(projectId)}/queries/${encodeValue(id)}?${search}`
      const look = async (): Promise<ResultPage | undefined> => {
        const answer = await ask(path, { job: true })
        if (answer.jobComplete === false) return undefined
        if (answer.jobComplete !== true) throw broken()
        return { rows: listIn(answer.rows), total: numberIn(answer.totalRows), pageToken: textIn(answer.pageToken) }
      }
      // The job ends by its own timeout.
      return pollUntilDone('The query', look, { ...polling, signal: context.signal })
    },

    async cancel({ projectId, id, location }) {
      const where = location === undefined ? '' : `?location=${encodeValue(location)}`
      const path = `${encodeValue(projectId)}/jobs/${encodeValue(id)}/cancel${where}`
      await ask(path, { body: {}, signal: AbortSignal.timeout(2_000) }).catch(() => {})
    },
  }

  async function locate(projectId: string, id: string): Promise<string | undefined> {
    const { jobReference } = await ask(`${encodeValue(projectId)}/jobs/${encodeValue(id)}`, { job: true })
    return textIn(objectIn(jobReference).location)
  }
}

/** Metadata and rows as the two parts of one body (RFC 2387). */
function inParts(metadata: unknown, rows: string): { type: string; text: string } {
  const boundary = `penstock_${randomUUID()}`
  const part = (type: string, content: string) => `--${boundary}\r\ncontent-type: ${type}\r\n\r\n${content}\r\n`
  const json = part('application/json; charset=UTF-8', JSON.stringify(metadata))
  return {
    type: `multipart/related; boundary=${boundary}`,
    text: `${json}${part('application/octet-stream', rows)}--${boundary}--\r\n`,
  }
}

function bodyOf({ text, dataset, parameters = [], maximumBytesBilled, timeoutMs }: Query, dryRun: boolean): object {
  return {
    query: {
      query: text,
      useLegacySql: false,
      ...(dataset === undefined ? {} : { defaultDataset: dataset }),
      ...(maximumBytesBilled === undefined ? {} : { maximumBytesBilled: String(maximumBytesBilled) }),
      ...(parameters.length === 0
        ? {}
        : {
            parameterMode: 'NAMED',
            queryParameters: parameters.map(({ name, type, value }) => ({
              name,
              parameterType: { type },
              parameterValue: { value },
            })),
          }),
    },
    labels: { tool: 'penstock' },
    ...(dryRun ? { dryRun } : { jobTimeoutMs: String(timeoutMs) }),
  }
}

export const broken = (): ConnectorError =>
  new ConnectorError('malformed_response', 'BigQuery sent an invalid response. The request is repeated.')
