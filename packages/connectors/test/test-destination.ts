import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type {
  AudienceMeasure,
  Batch,
  Cell,
  Connector,
  Delivery,
  DestinationWriter,
  ErrorAction,
  MeasureAudiences,
  Row,
  Values,
} from '@penstock/connector'
import {
  acceptDestination,
  type ServerError,
  type TestContext,
  type TestContextOptions,
  testContext,
} from '@penstock/connector/acceptance'
import { assertRejected } from './assert-rejected.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  type PlatformServer,
  problemOf,
} from './platform-server.ts'

/** A failure of a request, and the error that it becomes. */
export type FailureCase = readonly [Failure, ErrorAction, code: string, afterMs?: number]

/** A failure of the server in the suite of all connectors. */
export type Problem = readonly [
  Failure,
  name: string,
  ErrorAction,
  more?: Pick<ServerError, 'code' | 'afterMs'> & { readonly match?: RegExp },
]

type Accepted = Parameters<typeof acceptDestination>[0]

/** The facts of the suite of all destinations, for one way to deliver. */
export type Acceptance<Server extends PlatformServer> = Pick<Accepted, 'columns' | 'rows' | 'badRows' | 'aborted'> &
  Partial<Pick<Accepted, 'settings' | 'missing' | 'visible'>> & {
    /** A name that distinguishes the way from others. */
    readonly name?: string
    /** The requests with records, if they are not those of the other tests. */
    readonly posts?: RegExp
    readonly readBack: (server: Server) => readonly Row[]
    readonly reset: (server: Server) => void
    readonly problems: readonly Problem[]
  }

export type DestinationExamples<Server extends PlatformServer> = {
  readonly connector: Connector
  /** The server, for titles: `a server that keeps to Pinterest’s OpenAPI document`. */
  readonly testServer: string
  readonly start: () => Promise<Server>
  /** The origins of the platform, which lead to the server. */
  readonly routes: (url: string) => Readonly<Record<string, string>>
  readonly secrets: Values
  readonly wrongSecrets?: Values
  readonly settings: Values
  /** Settings that name no object of the platform. */
  readonly missing?: Values
  /** The columns of the rows of own tests. */
  readonly columns: readonly string[]
  /** The requests with records. */
  readonly posts: RegExp
  /** A request that hangs; one with records unless given. */
  readonly hangs?: RegExp
  /**
   * The steps of the check that succeed, with the settings of the connection and without, and what makes the others fail.
   * Absent if `tests` covers the check.
   */
  readonly check?: {
    /** Settings or secrets without permission. */
    readonly denied?: readonly TestContextOptions[]
    /** Secrets that the platform does not accept. */
    readonly unknown?: readonly Values[]
    /** Whether a connection without settings passes, too. */
    readonly needsSettings?: boolean
    /** Objects that the check left behind. The list must be empty. */
    readonly left?: (server: Server) => Iterable<unknown>
  }
  /** The answer of the platform to the question for one audience, as its reference has it; needed if it says the size of audiences. */
  readonly measures?: {
    readonly request: RegExp
    readonly reply: (id: string) => unknown
    readonly measure: Omit<AudienceMeasure, 'id' | 'name'>
  }
  /** The facts of the suite of all destinations, for each way to deliver. */
  readonly accepts: Acceptance<Server> | readonly Acceptance<Server>[]
  /** Registers the tests of this platform only. Each has a new server. */
  readonly tests: (scene: DestinationScene<Server>) => void
}

/** The server of a test, and a connection to it. */
export type DestinationScene<Server extends PlatformServer> = {
  readonly server: Server
  contextOf(options?: TestContextOptions): TestContext
  openWriter(options?: TestContextOptions): Promise<DestinationWriter>
  /** Delivers rows as a batch of a new writer. */
  deliver(rows: readonly Row[], options?: TestContextOptions): Promise<Delivery>
  /** The code of the error with which work fails. */
  codeOf(work: Promise<unknown> | undefined): Promise<string>
  /** Delivers rows that are rejected, each with the column to blame, and good ones behind them. No reason quotes a value. */
  rejects(
    bad: readonly (readonly [Cell[], field: string | undefined])[],
    good: readonly Row[],
    options?: TestContextOptions,
  ): Promise<Delivery>
  /** Delivers the rows with each failure. Resolves with the writer and the batch, which are ready for a delivery without one. */
  fails(
    cases: readonly FailureCase[],
    rows: readonly Row[],
    match?: RegExp,
  ): Promise<{ writer: DestinationWriter; batch: Batch }>
  /** Delivers as many rows as a batch can have, and resolves with their number. */
  largest(row: (n: number) => Row): Promise<number>
}

const steps = (authentication: boolean, permissions?: boolean): string[] => [
  'connectivity true',
  `authentication ${authentication}`,
  ...(permissions === undefined ? [] : [`permissions ${permissions}`]),
]

/** The facts of a connection to a server. */
export type SceneFacts<Server extends PlatformServer> = Pick<
  DestinationExamples<Server>,
  'connector' | 'start' | 'routes' | 'secrets' | 'settings' | 'columns' | 'posts'
>

/** Gives each test of the `describe` in which it is called a new server. */
export function destinationScene<Server extends PlatformServer>(given: SceneFacts<Server>): DestinationScene<Server> {
  const { connector, start, routes, secrets, settings, columns, posts } = given
  const { deliver: delivery } = connector.destination ?? {}
  assert.ok(delivery)
  let server: Server
  beforeEach(async () => {
    server = await start()
  })
  afterEach(() => server.close())
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets, settings, columns, routes: routes(server.url), ...options })
  const openWriter = async (options: TestContextOptions = {}) => delivery.open(contextOf(options))
  const deliver = async (rows: readonly Row[], options: TestContextOptions = {}) =>
    (await openWriter(options)).deliver(batchOf(options.columns ?? columns, rows))

  return {
    get server() {
      return server
    },
    contextOf,
    openWriter,
    deliver,
    codeOf: async (work) => (await connectorErrorOf(work, contextOf())).code,
    async rejects(bad, good, options) {
      const delivered = await deliver([...bad.map(([row]) => row), ...good], options)
      const rejected = [...(delivered.rejected ?? [])].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
      assertRejected(
        rejected,
        bad.map(([, field], index) => [index, field]),
      )
      for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example|https/)
      return { ...delivered, rejected }
    },
    async fails(cases, rows, match = posts) {
      const writer = await openWriter()
      const batch = batchOf(columns, rows)
      for (const [failure, action, code, afterMs] of cases) {
        const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
        // A request with credentials that are no longer accepted is sent again with new ones.
        if (action === 'reauthenticate') server.failure(match, failure)
        await assertFailure({ server, context: contextOf(), match }, writer, batch, failure, wanted)
        server.calm()
      }
      return { writer, batch }
    },
    async largest(row) {
      const { rowsMax } = delivery.batch(settings)
      assert.deepEqual((await deliver(Array.from({ length: rowsMax }, (_, n) => row(n)))).rejected, [])
      return rowsMax
    },
  }
}

/** Tests what the platform says of an audience that a delivery made. */
function testMeasures<Server extends PlatformServer>(
  scene: DestinationScene<Server>,
  measureAudiences: MeasureAudiences,
  { request, reply, measure }: NonNullable<DestinationExamples<Server>['measures']>,
  { columns, rows, settings }: Pick<Acceptance<Server>, 'columns' | 'rows' | 'settings'>,
): void {
  test('measures the audience of a connection, unless it is gone, and says why it cannot', async () => {
    const options = { columns: [...columns], ...(settings && { settings }) }
    const writer = await scene.openWriter(options)
    let { state } = await writer.deliver(batchOf(columns, rows))
    state = (await writer.flush?.())?.state ?? state
    await writer.finish?.()
    await writer.close?.()
    assert.ok(state !== undefined)
    const ids = JSON.stringify(state)
    const ask = () => measureAudiences({ ...scene.contextOf(options), state })
    const [before, ...others] = await ask()
    assert.ok(before && others.length === 0 && ids.includes(before.id), 'the audience of the delivery')
    scene.server.failure(request, { json: reply(before.id) })
    assert.deepEqual(await ask(), [{ id: before.id, name: before.name, ...measure }])
    scene.server.failure(request, { status: 403 })
    await connectorErrorOf(ask(), scene.contextOf(options))
    // Whatever comes in place of numbers is no number.
    const odd = JSON.stringify(reply(before.id)).replaceAll(/:(?:\d+|"\d+")(?=[,}])/g, ':-1.5')
    scene.server.failure(request, { json: JSON.parse(odd.replaceAll('-1.5', '"many"')) })
    const numbers = (await ask().catch(() => [])).flatMap(({ low, high, received, matched }) => [
      low,
      high,
      received,
      matched,
    ])
    assert.deepEqual([...new Set([...numbers, null])], [null])
    const another = { ...(state as object), account: 'another' }
    const ofOther = await measureAudiences({ ...scene.contextOf(options), state: another })
    assert.ok(ofOther.length === 0 || ofOther[0]?.id === before.id, 'the state of another account does not count')
  })
}

/** Tests a destination of a platform: by its own tests, its check, and the suite of all destinations. */
export async function testDestination<Server extends PlatformServer>(
  given: DestinationExamples<Server>,
): Promise<void> {
  const { connector, start, routes, secrets, settings, posts, accepts, check } = given

  describe(`${connector.name}, against ${given.testServer}`, () => {
    const scene = destinationScene(given)
    const { contextOf } = scene
    given.tests(scene)

    if (check) {
      test('checks whether the platform is reached, signs in, and sees the account', async () => {
        const run = async (options: TestContextOptions = {}) =>
          (await connector.check?.(contextOf(options)))?.map(({ name, ok }) => `${name} ${ok}`)
        assert.deepEqual(await run(), steps(true, true))
        if (!check.needsSettings) assert.deepEqual(await run({ settings: {} }), steps(true, true))
        for (const options of check.denied ?? []) assert.deepEqual(await run(options), steps(true, false))
        for (const unknown of check.unknown ?? []) assert.deepEqual(await run({ secrets: unknown }), steps(false))
        assert.deepEqual([...(check.left?.(scene.server) ?? [])], [])
      })
    }
    const measureAudiences = connector.destination?.deliver?.measureAudiences
    assert.equal(
      measureAudiences !== undefined,
      given.measures !== undefined,
      'state what the platform says of an audience',
    )
    if (measureAudiences && given.measures)
      testMeasures(scene, measureAudiences, given.measures, [accepts].flat()[0] as Acceptance<Server>)
  })

  const server = await start()
  after(() => server.close())
  for (const accepted of [accepts].flat()) {
    const { problems, readBack, reset, name, posts: match = posts, ...facts } = accepted as Acceptance<Server>
    acceptDestination({
      connector,
      testServer: `${given.testServer}${name === undefined ? '' : `, ${name}`}`,
      secrets,
      ...(given.wrongSecrets && { wrongSecrets: given.wrongSecrets }),
      settings,
      ...(given.missing && { missing: given.missing }),
      context: { routes: routes(server.url) },
      deduplicates: true,
      visible: 'at once',
      ...facts,
      readBack: async () => readBack(server),
      reset: () => reset(server),
      errors: problems.map(([failure, title, action, { match: of = match, ...more } = {}]) =>
        problemOf(server, of, failure, { name: title, action, ...more }),
      ),
      hang: hangOf(server, given.hangs ?? match),
    })
  }
}
