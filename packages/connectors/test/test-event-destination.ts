import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, Connector, ErrorAction, Row } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from './assert-rejected.ts'
import { sha256 } from './digest.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  type PlatformServer,
  problemOf,
} from './platform-server.ts'

/** A row by the names of its columns. */
export type NamedRow = Readonly<Record<string, Cell>>

export type EventExamples<Server extends PlatformServer> = {
  readonly connector: Connector
  /** The server, for titles: `a server that keeps to the published documentation of Reddit`. */
  readonly testServer: string
  readonly start: () => Promise<Server>
  /** The origins of the platform, which lead to the server. */
  readonly origins: readonly string[]
  readonly secrets: Record<string, string>
  /** Absent if the platform cannot check credentials without an event. */
  readonly wrongSecrets?: Record<string, string>
  readonly settings: Record<string, string | boolean>
  /** Settings that name no object of the platform; absent if only events show it. */
  readonly missing?: Record<string, string>
  /** The requests with events. */
  readonly posts: RegExp
  /** The events of a request that the server got. */
  readonly eventsIn: (json: unknown) => readonly unknown[]
  /** The events that the server took. */
  readonly taken: (server: Server) => Iterable<unknown>
  readonly clear: (server: Server) => void
  /** A row that the platform takes. Rows differ by `n`; each has an ID if the platform knows IDs. */
  readonly row: (n: number) => NamedRow
  /** The same row as the platform has it. */
  readonly kept: (event: never) => Row
  /** Values that the platform refuses, in columns that `row` has, and the reason of the rejection. */
  readonly refused: NamedRow
  readonly refusedBecause: RegExp
  readonly deduplicates: boolean
  /** Rows and the events that they become. Other columns are as in `row(1)`, unless the row is `whole`. */
  readonly examples: readonly {
    readonly title: string
    readonly row: NamedRow
    readonly whole?: boolean
    /** The event that the platform receives; a function of the ID that Penstock makes for a row without one. */
    readonly event: Readonly<Record<string, unknown>> | ((id: string) => Readonly<Record<string, unknown>>)
    readonly settings?: Record<string, string | boolean>
    readonly secrets?: Record<string, string>
  }[]
  /** Changes of a row that keep it from being sent, and the column to blame. */
  readonly rejected: readonly (readonly [changes: NamedRow, field: string])[]
  /** Answers to a request, and the errors that they become. One that rejects the credentials is given twice, since tokens are renewed. */
  readonly failures: readonly (readonly [Failure, ErrorAction, code: string, afterMs?: number])[]
  /** Whether any JSON object is a success, because the platform reports only what it did not take. */
  readonly reportsOnlyErrors?: boolean
  /** The answer of credentials that are no longer accepted. */
  readonly revoked: Failure
  /**
   * Rows that an answer rejects, by their indexes, and with the column to blame if the answer says it. There are three rows, unless
   * changes make others. Without an answer, it is the server's own.
   */
  readonly answers?: readonly (readonly [
    title: string,
    answer: Failure | undefined,
    rejected: readonly (number | readonly [index: number, field: string])[],
    changes?: readonly NamedRow[],
  ])[]
  /** Options with which the destination is opened, and the code of the error; `undefined` if it opens. */
  readonly openings?: readonly (readonly [
    Pick<TestContextOptions, 'secrets' | 'settings' | 'columns'>,
    code: string | undefined,
  ])[]
  /** Whether an inspection finds the same errors as opening the destination. */
  readonly inspectsOpenings?: boolean
  /** Makes access tokens end, which are then renewed. */
  readonly expireTokens?: (server: Server) => void
  /** Changes that decide whether the last step of the check succeeds, and its message. */
  readonly checks?: readonly {
    readonly title: string
    readonly change: (server: Server) => void
    readonly settings?: Record<string, string | boolean>
    readonly secrets?: Record<string, string>
    readonly ok: boolean
    readonly message?: RegExp
  }[]
}

/** Every answer that is no answer of a platform. */
const hostile = ['null', '7', '[]', '"x"', '{}', '{"data":7}', '<html>']

/** Tests a destination of events by examples, and by all that every destination must do. */
export async function testEventDestination<Server extends PlatformServer>(given: EventExamples<Server>): Promise<void> {
  const { connector, start, secrets, settings, posts, row, wrongSecrets, missing } = given
  const { deliver } = connector.destination ?? {}
  assert.ok(deliver)
  const routesTo = ({ url }: Server) => Object.fromEntries(given.origins.map((origin) => [origin, url]))
  const batchOfRows = (rows: readonly NamedRow[], number?: number) => {
    const columns = [...new Set(rows.flatMap((one) => Object.keys(one)))]
    return batchOf(
      columns,
      rows.map((one) => columns.map((column) => one[column] ?? null)),
      number,
    )
  }

  describe(`${connector.name}, by examples`, () => {
    let server: Server
    beforeEach(async () => {
      server = await start()
    })
    afterEach(() => server.close())
    const contextOf = (options: TestContextOptions = {}) =>
      testContext({ secrets, settings, routes: routesTo(server), columns: Object.keys(row(1)), ...options })
    const lastEvents = () =>
      given.eventsIn(server.received.findLast(({ method, path }) => posts.test(`${method} ${path}`))?.json)

    for (const { title, row: changes, whole, event, settings: own, secrets: others = secrets } of given.examples) {
      test(title, async () => {
        const writer = await deliver.open(contextOf({ settings: { ...settings, ...own }, secrets: others }))
        const batch = batchOfRows([whole ? changes : { ...row(1), ...changes }])
        assert.deepEqual((await writer.deliver(batch)).rejected, [])
        const id = sha256(`${batch.key}:0:${JSON.stringify(batch.rows[0])}`).slice(0, 32)
        assert.deepEqual(lastEvents(), [typeof event === 'function' ? event(id) : event])
      })
    }

    test('rejects before sending what the platform would refuse, in a preview as in a transfer', async () => {
      const batch = batchOfRows([...given.rejected.map(([changes]) => ({ ...row(1), ...changes })), row(1)])
      const context = contextOf()
      const { rejected = [] } = await (await deliver.open(context)).deliver(batch)
      const fields = (list: typeof rejected) => list.map(({ index, field }) => [index, field])
      assert.deepEqual(
        fields(rejected),
        given.rejected.map(([, field], index) => [index, field]),
      )
      const find = await deliver.rejectionsOf?.(context)
      assert.deepEqual(find?.(batch), rejected)
      for (const { reason } of rejected) {
        assert.match(reason, /^[A-Z].*\.$/)
        assert.doesNotMatch(reason, /jane|@/, 'a reason quotes a value')
      }
      assert.equal([...given.taken(server)].length, 1)
    })

    test('finds the event that sinks a request, and sends the others with the IDs that they had', async () => {
      const rows = Array.from({ length: 9 }, (_, n) => ({ ...row(n), ...(n === 5 ? given.refused : {}) }))
      const { rejected } = await (await deliver.open(contextOf())).deliver(batchOfRows(rows))
      assertRejected(rejected, [5])
      assert.match(rejected?.[0]?.reason ?? '', given.refusedBecause)
      assert.equal([...given.taken(server)].length, 8)
    })

    for (const [title, answer, blamed, changes = [{}, {}, {}]] of given.answers ?? []) {
      test(title, async () => {
        if (answer !== undefined) server.failure(posts, answer)
        const rows = changes.map((change, n) => ({ ...row(n), ...change }))
        const { rejected } = await (await deliver.open(contextOf())).deliver(batchOfRows(rows))
        assert.deepEqual(
          rejected?.map(({ index, field }) => (field === undefined ? index : [index, field])),
          blamed,
        )
      })
    }

    test('says what failures mean, without the words of the platform', async () => {
      const batch = batchOfRows([row(1)])
      const setting = { server, context: contextOf(), match: posts }
      const writer = await deliver.open(setting.context)
      const isTaken = (text: string) => given.reportsOnlyErrors && text.startsWith('{')
      const noAnswers = hostile
        .filter((text) => !isTaken(text))
        .map((text): (typeof given.failures)[number] => [{ status: 200, text }, 'retry', 'malformed_response'])
      for (const [failure, action, code, afterMs] of [...given.failures, ...noAnswers]) {
        const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
        if (action === 'reauthenticate') server.failure(posts, failure)
        await assertFailure(setting, writer, batch, failure, wanted)
        server.calm()
      }
      assert.deepEqual((await writer.deliver(batch)).rejected, [])
    })

    test('checks the credentials and the settings, and leaves nothing behind', async () => {
      const { check } = connector
      assert.ok(check)
      const run = async (options: TestContextOptions = {}) => (await check(contextOf(options))).map(({ ok }) => ok)
      const steps = await run()
      assert.ok(steps.length > 1 && steps.every(Boolean))
      assert.deepEqual(await run({ settings: {} }), steps)
      if (missing) assert.deepEqual(await run({ settings: missing }), [true, true, false])
      if (wrongSecrets) assert.deepEqual(await run({ secrets: wrongSecrets }), [true, false])
      assert.deepEqual([...given.taken(server)], [])
    })

    for (const { title, change, settings: own = settings, secrets: others = secrets, ok, message } of given.checks ??
      []) {
      test(`checks ${title}`, async () => {
        change(server)
        const last = (await connector.check?.(contextOf({ settings: own, secrets: others })))?.at(-1)
        assert.equal(last?.ok, ok)
        if (message) assert.match(last.message, message)
      })
    }

    if (given.openings) {
      test('is opened only with what a transfer needs', async () => {
        for (const [options, code] of given.openings ?? []) {
          const context = contextOf(options)
          if (code === undefined) {
            await deliver.open(context)
            continue
          }
          assert.equal((await connectorErrorOf(deliver.open(context), context)).code, code)
          if (!given.inspectsOpenings) continue
          assert.equal((await connectorErrorOf(deliver.inspect?.(context), context)).code, code)
        }
      })
    }

    const { expireTokens } = given
    if (expireTokens) {
      test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
        const { rowsMax } = deliver.batch(settings)
        const writer = await deliver.open(contextOf())
        const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
        assert.deepEqual((await writer.deliver(batchOfRows(rows))).rejected, [])
        expireTokens(server)
        assert.deepEqual((await writer.deliver(batchOfRows([row(rowsMax)], 2))).rejected, [])
        assert.equal([...given.taken(server)].length, rowsMax + 1)
      })
    }
  })

  const server = await start()
  after(() => server.close())
  const columns = Object.keys(row(1))
  const cells = (one: NamedRow): Row => columns.map((column) => one[column] ?? null)
  const revoked = given.revoked
  acceptDestination({
    connector,
    testServer: given.testServer,
    secrets,
    ...(wrongSecrets && { wrongSecrets }),
    settings,
    ...(missing && { missing }),
    context: { routes: routesTo(server) },
    columns,
    rows: Array.from({ length: 12 }, (_, n) => cells(row(n))),
    badRows: [{ row: cells({ ...row(1), ...given.refused }), reason: given.refusedBecause }],
    readBack: async () => [...given.taken(server)].map((event) => given.kept(event as never)),
    reset: () => given.clear(server),
    deduplicates: given.deduplicates,
    visible: 'at once',
    errors: [
      problemOf(server, posts, { status: 429, text: '' }, { name: 'limits calls', action: 'retry' }),
      problemOf(server, posts, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
      problemOf(server, posts, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
      {
        name: 'finds the credentials revoked',
        action: 'reauthenticate',
        start: () => {
          for (const failure of [revoked, revoked]) server.failure(posts, failure)
        },
        stop: () => server.calm(),
      },
    ],
    hang: hangOf(server, posts),
  })
}
