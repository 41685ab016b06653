import { randomUUID } from 'node:crypto'
import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { discard } from '../object-stores/answers.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { pollUntilDone } from '../platform-api/polling.ts'
import { plainName, type SnowflakeAccount } from './account.ts'
import type { SnowflakeColumn } from './cells.ts'
import { complaintIn, connectorErrorOf } from './errors.ts'
import { type Rest, rowsIn, type SnowflakeRow } from './result-rows.ts'

/** A statement and the context in which it runs. */
export type SnowflakeStatement = {
  readonly text: string
  /** Texts that replace the question marks. */
  readonly bindings?: readonly string[]
  readonly timeoutSeconds: number
  readonly warehouse?: string | undefined
  readonly database?: string | undefined
  readonly schema?: string | undefined
}

/** A whole result that is small. */
export type SmallResult = { readonly columns: readonly SnowflakeColumn[]; readonly rows: readonly SnowflakeRow[] }

/** The size of a whole result, from its first page. */
export type ResultSize = { readonly partitions: number; readonly rows: number | undefined }

/** Speaks to the SQL API, version 2. A token that is not accepted any more is replaced once. */
export type SqlApi = {
  readonly account: SnowflakeAccount
  /** Runs a statement that returns few rows. Throws a `ConnectorError`. */
  run(statement: SnowflakeStatement): Promise<SmallResult>
  /** Starts a statement, and resolves with the handle of its result. The statement can still be running then. */
  start(statement: SnowflakeStatement): Promise<string>
  /**
   * Waits for the result and reads one of its pages, some rows at a time. Returns the size of the result if the page contains
   * it, as the first page does. Throws `result_expired` if the result is no longer kept.
   */
  page(handle: string, partition: number): AsyncGenerator<readonly SnowflakeRow[], ResultSize | undefined>
  /** Stops a statement that no one waits for any more. Never throws. */
  cancel(handle: string): Promise<void>
}

/** An answer to a statement arrives within 45 seconds, ready or not. */
const timeoutMs = 90_000
const polling = { firstMs: 100, mostMs: 5_000, totalMs: Number.POSITIVE_INFINITY }

/** @param quiet omits Snowflake's messages from errors, because they can quote values of rows in statements */
export function makeSqlApi(context: ConnectorContext, account: SnowflakeAccount, quiet = false): SqlApi {
  const send = async (
    path: string,
    { body, signal = context.signal, fresh = false }: { body?: string; signal?: AbortSignal; fresh?: boolean } = {},
  ): Promise<Response> =>
    context.egress.request(`${account.origin}/api/v2/statements${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${await account.token(fresh)}`,
        'x-snowflake-authorization-token-type': account.tokenType,
        'user-agent': 'Penstock/1',
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      signal,
      timeoutMs,
    })

  /** An answer of status 200 or 202, with its body unread. */
  async function ask(path: string, body: string | undefined, handle: boolean): Promise<Response> {
    const asked = body === undefined ? {} : { body }
    let response = await send(path, asked)
    if (response.status === 401 && account.renews) {
      await discard(response)
      response = await send(path, { ...asked, fresh: true })
    }
    if (response.status === 200 || response.status === 202) return response
    const complaint = complaintIn(await restOf(response))
    throw connectorErrorOf(response, quiet ? { ...complaint, message: '' } : complaint, account, handle)
  }

  /** Submits a statement. If the connection breaks, the same request again does not run the statement a second time. */
  async function submit(statement: SnowflakeStatement, async: boolean): Promise<Response> {
    const body = JSON.stringify(bodyOf(statement, account))
    const path = `?requestId=${randomUUID()}${async ? '&async=true' : ''}`
    try {
      return await ask(path, body, false)
    } catch (error) {
      if (asConnectorError(error)?.code !== 'connection_lost') throw error
      return await ask(`${path}&retry=true`, body, false)
    }
  }

  /** The answer with a page, once the statement is done. */
  async function ready(handle: string, partition: number): Promise<Response> {
    const path = `/${encodeURIComponent(handle)}${partition === 0 ? '' : `?partition=${partition}`}`
    const look = async (): Promise<Response | undefined> => {
      const response = await ask(path, undefined, true)
      if (response.status === 200) return response
      await discard(response)
      return undefined
    }
    // The statement ends by its own timeout.
    return pollUntilDone('The statement', look, { ...polling, signal: context.signal })
  }

  async function* page(
    handle: string,
    partition: number,
  ): AsyncGenerator<readonly SnowflakeRow[], ResultSize | undefined> {
    const rest = yield* rowsIn(bodyIn(await ready(handle, partition)))
    return sizeIn(rest)
  }

  return {
    account,
    page,
    async run(statement) {
      let response = await submit(statement, false)
      if (response.status === 202) response = await ready(handleIn(await restOf(response)), 0)
      const rows: SnowflakeRow[] = []
      const pages = rowsIn(bodyIn(response))
      let next = await pages.next()
      for (; !next.done; next = await pages.next()) rows.push(...next.value)
      return { columns: columnsIn(next.value), rows }
    },
    async start(statement) {
      return handleIn(await restOf(await submit(statement, true)))
    },
    async cancel(handle) {
      try {
        const signal = AbortSignal.timeout(2_000)
        await discard(await send(`/${encodeURIComponent(handle)}/cancel`, { body: '', signal }))
      } catch {
        // It ends by its own timeout.
      }
    },
  }
}

function bodyOf(statement: SnowflakeStatement, { role }: SnowflakeAccount): object {
  const { text, bindings = [], timeoutSeconds, warehouse, database, schema } = statement
  const named = Object.entries({ warehouse, database, schema }).flatMap(([key, name]) =>
    name === undefined ? [] : [[key, plainName(name)]],
  )
  return {
    statement: text,
    timeout: timeoutSeconds,
    ...Object.fromEntries(named),
    ...(role === undefined ? {} : { role }),
    ...(bindings.length > 0
      ? { bindings: Object.fromEntries(bindings.map((value, at) => [String(at + 1), { type: 'TEXT', value }])) }
      : {}),
    parameters: { timezone: 'UTC', binary_output_format: 'HEX', query_tag: 'penstock', multi_statement_count: '1' },
  }
}

/** The fields of a response without its rows. Empty if it is not JSON, such as a gateway's page. */
async function restOf(response: Response): Promise<Rest> {
  const rows = rowsIn(bodyIn(response))
  try {
    let next = await rows.next()
    while (!next.done) next = await rows.next()
    return next.value
  } catch (error) {
    if (asConnectorError(error)?.code !== 'malformed_response') throw error
    return {}
  }
}

async function* bodyIn(response: Response): AsyncGenerator<Uint8Array> {
  for await (const bytes of response.body ?? []) yield bytes
}

function handleIn({ statementHandle }: Rest): string {
  if (typeof statementHandle === 'string' && /^[\w-]{1,100}$/.test(statementHandle)) return statementHandle
  throw new ConnectorError(
    'malformed_response',
    'Snowflake accepted a statement, but did not return the handle of its result.',
  )
}

function columnsIn({ resultSetMetaData }: Rest): SnowflakeColumn[] {
  return listIn(objectIn(resultSetMetaData).rowType)
    .filter(isObject)
    .map(({ name, type, scale, precision, nullable, length, collation }) => ({
      name: String(name),
      type: String(type).toUpperCase(),
      scale: numberIn(scale) ?? 0,
      ...(nullable === false ? { isRequired: true } : {}),
      ...((textIn(collation) ?? '') === '' ? {} : { isCollated: true }),
      ...(numberIn(precision) === undefined ? {} : { precision: numberIn(precision) as number }),
      ...(numberIn(length) === undefined ? {} : { length: numberIn(length) as number }),
    }))
}

function sizeIn({ resultSetMetaData }: Rest): ResultSize | undefined {
  const { partitionInfo, numRows } = objectIn(resultSetMetaData)
  return Array.isArray(partitionInfo) ? { partitions: partitionInfo.length, rows: numberIn(numRows) } : undefined
}
