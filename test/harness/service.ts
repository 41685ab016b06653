import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  type BodyOf,
  basePath,
  envelope,
  type Operation,
  type OperationId,
  operations,
  Refused,
  type ReplyOf,
} from '@penstock/wire'
import { Ajv, type ValidateFunction } from 'ajv'
import { Type } from 'typebox'
import { type Config, readConfig } from '../../packages/server/src/config.ts'
import { type Database, openDatabase } from '../../packages/server/src/db/database.ts'
import type { Timeouts } from '../../packages/server/src/http/listener.ts'
import { createLogger } from '../../packages/server/src/log.ts'
import { createOrganization, registerEnvironment } from '../../packages/server/src/organizations/organizations.ts'
import { runnerOptions } from '../../packages/server/src/runners/options.ts'
import { createRunnerPool, type Runners } from '../../packages/server/src/runners/runner-pool.ts'
import { generateMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { createService, type Service } from '../../packages/server/src/service.ts'
import { createPasswords } from '../../packages/server/src/users/passwords.ts'
import { bySocket, createTestDatabase } from './database.ts'
import { recordingJobs } from './jobs-run.ts'
import { bounded } from './until.ts'

/**
 * The service as tests use it: the real service, on a separate real database, without a port. Every reply to an operation is
 * compared with its schema (invariant 7), whatever the test is about.
 */
export type TestService = {
  readonly service: Service
  readonly database: Database
  readonly databaseUrl: string
  readonly config: Config
  /** Runner processes, which start when the first job comes. */
  readonly runners: Runners
  /** Log lines of the service. */
  readonly logLines: string[]
  /** An organization with a client and a token. */
  addOrganization(): Promise<Organization>
  /** Sends a raw request, without knowing any operation. */
  send(request: RawRequest): Promise<Reply>
  /** Calls an operation. */
  call<I extends OperationId>(operation: I, call?: CallOptions<I>): Promise<Reply<ReplyOf<I>>>
  close(): Promise<void>
}

export type Organization = { organizationId: string; clientId: string; clientSecret: string; token: string }

export type RawRequest = { method: string; path: string; headers?: Record<string, string>; body?: string | Buffer }

export type CallOptions<I extends OperationId> = {
  token?: string | undefined
  id?: string
  transferId?: string
  accountId?: string
  query?: Record<string, string | number | boolean>
  body?: BodyOf<I>
  headers?: Record<string, string>
}

/** A reply. `response` is the payload of the envelope, or the whole body if there is no envelope. */
export type Reply<T = unknown> = {
  status: number
  headers: Record<string, string | undefined>
  text: string
  json: { statusCode: number; statusMessage: string; response: unknown }
  /** The payload. By reading it, the test expects success. */
  response: T
  /** The code of a refusal, undefined on success. */
  error: string | undefined
  details: { field: string; message: string }[]
}

/**
 * Starts the service on a clone of the template database. `env` and `timeouts` override settings.
 * @param given runners to use instead of processes
 */
export async function startTestService(
  env: Record<string, string> = {},
  timeouts: Partial<Timeouts> = {},
  given?: Runners,
): Promise<TestService> {
  const testDatabase = await createTestDatabase()
  return startServiceOn(testDatabase.url, env, testDatabase.drop, timeouts, given)
}

const closesWithinMs = 60_000

/** Parameters of argon2id with which tests make hundreds of digests. */
export const littleWork = { memoryKib: 8, passes: 1, lanes: 1 } as const

/**
 * Starts one more process-like service on a database that another one uses already. If that fails, its resources are
 * closed again, and `afterClose` is called: a test file with an open handle would not end.
 */
export async function startServiceOn(
  databaseUrl: string,
  env: Record<string, string> = {},
  afterClose: () => Promise<void> = async () => {},
  timeouts: Partial<Timeouts> = {},
  given?: Runners,
): Promise<TestService> {
  // Closed in the reverse order. After a failed test, something can wait for a client that the test took and did not release.
  await using opened = new AsyncDisposableStack()
  const closeWith = (what: string, close: () => Promise<void>) =>
    opened.defer(() => bounded(what, close(), closesWithinMs))
  opened.defer(afterClose)
  const address = bySocket(databaseUrl)
  const config = readConfig({
    DATABASE_URL: address,
    PENSTOCK_MASTER_KEY: generateMasterKey(),
    PENSTOCK_PUBLIC_URL: 'http://penstock.test',
    PENSTOCK_DATA_DIR: '/nonexistent',
    // One client represents many here.
    PENSTOCK_RATE_LIMIT: '0',
    // The servers of the tests listen on this machine.
    PENSTOCK_EGRESS: 'any',
    ...env,
  })
  assert(config.masterKey)
  const logLines: string[] = []
  const log = createLogger(config.logLevel, { write: (line) => void logLines.push(line) })
  const database = openDatabase({ url: address, poolerUrl: config.poolerUrl, poolSize: config.databasePoolSize })
  closeWith('the database closes', database.close)
  await registerEnvironment(database, config)
  const runners = recordingJobs(given ?? createRunnerPool({ ...runnerOptions(config), spare: false }, log))
  closeWith('the pool of runners closes', runners.close)
  const service = await createService(config, {
    database,
    databaseUrl: address,
    masterKey: config.masterKey,
    runners,
    log,
    timeouts,
    passwords: createPasswords(littleWork),
    // The server of the tests is like the embedded one: its role can create databases and roles.
    embedded: true,
  })
  closeWith('the service closes', service.close)
  await service.app.ready()
  const open = opened.move()

  const send = async ({ method, path, headers = {}, body }: RawRequest): Promise<Reply> => {
    const reply = await service.app.inject({
      method: method as 'GET',
      url: path,
      headers,
      ...(body === undefined ? {} : { payload: body }),
    })
    const text = reply.body
    const json = parse(text)
    const { error, details = [] } = (json.response ?? {}) as { error?: string; details?: Reply['details'] }
    return {
      status: reply.statusCode,
      headers: Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, value?.toString()])),
      text,
      json,
      response: json.response,
      error: reply.statusCode >= 400 ? error : undefined,
      details,
    }
  }

  return {
    service,
    database,
    databaseUrl,
    config,
    runners,
    logLines,
    send,
    call: async <I extends OperationId>(id: I, options: CallOptions<I> = {}) => {
      const operation: Operation = operations[id]
      const reply = await send({ ...requestOf(operation, options as CallOptions<OperationId>) })
      const bare = operation.bare && reply.status < 400
      assertValid(id, reply)
      return { ...reply, response: (bare ? reply.json : reply.json.response) as ReplyOf<I> }
    },
    addOrganization: async () => {
      const created = await database.transaction((tx) =>
        createOrganization(tx, {
          name: 'Test organization',
          ownerEmail: `owner-${randomBytes(3).toString('hex')}@example.com`,
        }),
      )
      const { clientId, clientSecret } = created
      const reply = await send({
        method: 'POST',
        path: `${basePath}/oauth/client-token`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ clientId, clientSecret }),
      })
      return { ...created, token: (reply.json as unknown as { accessToken: string }).accessToken }
    },
    close: () => open.disposeAsync(),
  }
}

/** The request that calls an operation. */
export function requestOf(
  operation: Operation,
  { token, id, transferId, accountId, query, body, headers }: CallOptions<OperationId>,
): RawRequest {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, ...(accountId === undefined ? {} : { accountId }) })) {
    parameters.set(name, String(value))
  }
  const path =
    basePath +
    operation.path
      .replace('{id}', encodeURIComponent(id ?? ''))
      .replace('{transferId}', encodeURIComponent(transferId ?? ''))
  return {
    method: operation.method,
    path: parameters.size > 0 ? `${path}?${parameters}` : path,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined
        ? {}
        : { 'content-type': operation.file ? 'application/octet-stream' : 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: writeBody(body) }),
  }
}

/** A file is sent unchanged. */
const writeBody = (body: object): Buffer | string =>
  body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body)

// Each schema is compiled for a few values.
const ajv = new Ajv({ strict: false, allErrors: true, formats: { password: true }, code: { optimize: false } })
const validators = new Map<string, ValidateFunction>()

/** Fails unless the reply is what the contract says: the envelope, exactly its keys, the right status. */
export function assertValid(id: OperationId, reply: Reply): void {
  const operation: Operation = operations[id]
  const failed = reply.status >= 400
  const key = failed ? 'refused' : id
  let validate = validators.get(key)
  if (!validate) {
    const payload = operation.list ? Type.Array(operation.reply) : operation.reply
    validate = ajv.compile(failed ? envelope(Refused) : operation.bare ? payload : envelope(payload))
    validators.set(key, validate)
  }
  assert(
    validate(reply.json),
    `${id} answered ${reply.status} with ${reply.text.slice(0, 500)}: ${ajv.errorsText(validate.errors)}`,
  )
  const isAlready = operation.already !== undefined && reply.status === 200
  if (!failed && !isAlready) assert.equal(reply.status, operation.success ?? 200)
  if (failed || !operation.bare) assert.equal(reply.json.statusCode, reply.status)
}

function parse(text: string): Reply['json'] {
  try {
    return JSON.parse(text)
  } catch {
    return { statusCode: 0, statusMessage: text, response: undefined }
  }
}
