import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Chunk, Connector, ErrorAction, Json, Row, Values } from '@penstock/connector'
import { acceptSource, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  connectorErrorOf,
  type Failure,
  hangOf,
  type PlatformServer,
  problemOf,
  type Received,
  type Reply,
  startPlatform,
} from './platform-server.ts'
import { type NextPage, testReportFailures } from './report-failures.ts'

/** A recorded request, and its answers: the first time, the second time, and the last one from then on. */
export type Exchange = {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** All parameters of the address; none unless given. */
  readonly query?: Readonly<Record<string, string>>
  /** The body as JSON, or as the fields of a form. */
  readonly body?: unknown
  readonly form?: Readonly<Record<string, string>>
  /** Headers that the request must have, in lower case; `null`: must not have. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly answer: Reply | readonly Reply[]
}

export type ReportExamples = {
  readonly connector: Connector
  /** The server, for titles: `recorded answers of TikTok`. */
  readonly testServer?: string
  /** The time at which everything happens, ISO 8601: recorded days stay what they are. */
  readonly now: string
  /** The origins that lead to the recordings: the API, the sign-in, the store of files. */
  readonly origins: readonly string[]
  readonly secrets: Record<string, string>
  readonly wrongSecrets: Record<string, string>
  /** The refusal of a request that is not signed in as it should be; asked first, of every request. */
  readonly denies: (received: Received) => Reply | undefined
  /** Requests of every example: the sign-in, the account, what a check asks. */
  readonly common: readonly Exchange[]
  /** Reports, with what they make. The first needs more than one chunk: more than one page, or more than one report. */
  readonly examples: readonly ReportExample[]
  /** Requests that read reports, as `METHOD /path`; they meet the failures. */
  readonly reads: RegExp
  /** Answers to such a request, and the errors that they become. */
  readonly failures?: readonly (readonly [Failure, ErrorAction, code: string, afterMs?: number])[]
  /** The answer of credentials that are not accepted any more. */
  readonly revoked: Failure
  /** Where a login that is refused meets it, if the first example has several accounts: everywhere. `reads` unless given. */
  readonly revokes?: RegExp
  /** An account that is refused: its ID, and its exchanges. */
  readonly refused: { readonly account: string; readonly exchanges: readonly Exchange[] }
  /** Answers of the platform to any request about an account that it refuses, besides the statuses 400, 401, 403 and 404. */
  readonly refusals: readonly Reply[]
  /** Transient refusals of the platform, besides the statuses 429, 500, 502 and 503. */
  readonly transient: readonly Failure[]
  /** How the first example names the next page; `none` if the platform has no pages. */
  readonly nextPage: NextPage | 'none'
}

export type ReportExample = {
  readonly title: string
  readonly settings: Values
  readonly exchanges: readonly Exchange[]
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** How many rows are rejected, with the reason. */
  readonly refused?: number
}

/** Answers like the recordings, and like nothing else: what they do not have fails the test. */
export async function startRecorded(
  denies: ReportExamples['denies'],
  exchanges: () => readonly Exchange[],
): Promise<PlatformServer> {
  const asked = new Map<Exchange, number>()
  const strange: string[] = []
  const server = await startPlatform((received) => {
    if (received.path === '/' && received.query.size === 0) return { status: 404, text: '' }
    const denied = denies(received)
    if (denied) return denied
    const found = exchanges().find((exchange) => isRecorded(exchange, received))
    if (!found) {
      const { method, path, query, text } = received
      strange.push(`${method} ${path}?${query} ${text}`)
      return { status: 418, text: 'not recorded' }
    }
    const answers: readonly Reply[] = [found.answer].flat()
    const count = asked.get(found) ?? 0
    asked.set(found, count + 1)
    return answers[Math.min(count, answers.length - 1)] ?? {}
  })
  return {
    ...server,
    async close() {
      await server.close()
      assert.deepEqual(strange, [], 'requests that are not recorded')
    },
  }
}

function isRecorded({ method = 'GET', path, query = {}, body, form, headers = {} }: Exchange, received: Received) {
  if (received.method !== method || received.path !== path) return false
  if (!isDeepStrictEqual(Object.fromEntries(received.query), { ...query })) return false
  if (body !== undefined && !isDeepStrictEqual(received.json, JSON.parse(JSON.stringify(body)))) return false
  if (form && !isDeepStrictEqual(Object.fromEntries(new URLSearchParams(received.text)), { ...form })) return false
  return Object.entries(headers).every(([name, value]) => (received.headers[name] ?? null) === value)
}

/** Answers that are none of a report. */
const hostile = ['null', '7', '"x"', '<html>', '']

/** Tests a source of reports by recorded exchanges, and by all that every source of reports must do. */
export async function testReportSource(given: ReportExamples): Promise<void> {
  const { connector, now, secrets, wrongSecrets, examples, common, reads } = given
  const { open } = connector.source ?? {}
  const [main] = examples
  assert.ok(open && main)
  const routesTo = ({ url }: PlatformServer) => Object.fromEntries(given.origins.map((origin) => [origin, url]))

  const steady = await startRecorded(given.denies, () => [...main.exchanges, ...common])
  after(() => steady.close())

  describe(`${connector.name}, by recorded examples`, () => {
    before(() => mock.timers.enable({ apis: ['Date'], now: new Date(now) }))
    after(() => mock.timers.reset())
    let exchanges: readonly Exchange[] = []
    let refuses: (received: Received) => Reply | undefined = () => undefined
    let server: PlatformServer
    beforeEach(async () => {
      refuses = () => undefined
      const denies = (received: Received) => given.denies(received) ?? refuses(received)
      server = await startRecorded(denies, () => exchanges)
    })
    afterEach(() => server.close())
    const contextOf = (options: TestContextOptions) => testContext({ secrets, routes: routesTo(server), ...options })
    async function read(example: ReportExample, from?: Json, options: TestContextOptions = {}): Promise<Chunk[]> {
      exchanges = [...example.exchanges, ...common]
      const reader = await open?.(contextOf({ settings: example.settings, ...options }))
      const chunks: Chunk[] = []
      for await (const chunk of reader?.read(from) ?? []) chunks.push(chunk)
      return chunks
    }

    for (const example of examples) {
      test(example.title, async () => {
        const chunks = await read(example)
        assert.deepEqual(chunks[0]?.columns, example.columns)
        assert.deepEqual(rowsOf(chunks), example.rows)
        assert.equal(refusedIn(chunks).length, example.refused ?? 0)
      })
    }

    test('continues behind any chunk after a crash, and starts no report twice', async () => {
      const chunks = await read(main)
      for (const [at, { checkpoint }] of chunks.entries()) {
        const rest = await read(main, JSON.parse(JSON.stringify(checkpoint)))
        assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(at + 1)), `behind chunk ${at} of ${chunks.length}`)
      }
    })

    test('says what failures mean', async () => {
      const cases: readonly (readonly [Failure, ErrorAction, string, number?])[] = [
        [{ status: 429, headers: { 'retry-after': '60' }, text: '' }, 'retry', 'rate_limited', 60_000],
        ...(given.failures ?? []),
        ...hostile.map((text) => [{ status: 200, text }, 'retry', 'malformed_response'] as const),
      ]
      for (const [failure, action, code, afterMs] of cases) {
        // Twice, for a first example with two accounts.
        for (let n = 0; n < 2; n++) server.failure(reads, failure)
        const context = contextOf({ settings: main.settings })
        const error = await connectorErrorOf(read(main), context)
        const found = {
          action: error.action,
          code: error.code,
          ...(afterMs === undefined ? {} : { afterMs: error.afterMs }),
        }
        assert.deepEqual(
          found,
          { action, code, ...(afterMs === undefined ? {} : { afterMs }) },
          JSON.stringify(failure),
        )
        server.calm()
      }
      assert.deepEqual(rowsOf(await read(main)), main.rows)
    })

    testReportFailures({
      given,
      main,
      server: () => server,
      read: async (example, refusing = () => undefined) => {
        refuses = refusing
        return await read(example)
      },
    })

    const { refused } = given
    if (refused) {
      test('names an account that is refused, and reads the others', async () => {
        const both = {
          ...main,
          settings: { ...main.settings, accountIds: `${refused.account},${main.settings.accountIds}` },
        }
        const chunks = await read({ ...both, exchanges: [...refused.exchanges, ...main.exchanges] })
        const reasons = refusedIn(chunks)
        assert.equal(reasons.length, 1)
        assert.match(reasons[0] ?? '', new RegExp(`^The account ${refused.account} of .* was not read\\. `))
        const kept = chunks.flatMap(({ rows, errors }) => rows.filter((_, index) => !errors?.has(index)))
        assert.deepEqual(kept, main.rows)
      })
    }

    acceptSource({
      connector,
      testServer: given.testServer ?? 'recorded answers',
      secrets,
      wrongSecrets,
      settings: main.settings as Record<string, string>,
      context: { routes: routesTo(steady) },
      columns: main.columns,
      rows: main.rows,
      broken: main.refused ?? 0,
      errors: [
        problemOf(
          steady,
          reads,
          { status: 429, headers: { 'retry-after': '60' }, text: '' },
          { name: 'limits calls', action: 'retry' },
        ),
        {
          name: 'finds the credentials revoked',
          action: 'reauthenticate',
          start: () => {
            for (let n = 0; n < 9; n++) steady.failure(given.revokes ?? reads, given.revoked)
          },
          stop: () => steady.calm(),
        },
        // Requests that only read are repeated twice, and connections that break are opened again.
        ...([{ status: 500, text: '' }, 'reset', { status: 429, text: '' }] as const).map((failure) => ({
          name: `keeps answering with ${JSON.stringify(failure)}`,
          action: 'retry' as const,
          start: () => {
            for (let n = 0; n < 9; n++) steady.failure(reads, failure)
          },
          stop: () => steady.calm(),
        })),
      ],
      hang: hangOf(steady, reads),
    })
  })
}

const rowsOf = (chunks: readonly Chunk[]): Row[] => chunks.flatMap(({ rows }) => rows)
const refusedIn = (chunks: readonly Chunk[]): string[] => chunks.flatMap(({ errors }) => [...(errors?.values() ?? [])])
