import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Chunk, ConnectorError, type Row, type Values } from '@penstock/connector'
import type { Failure, PlatformServer, Received, Reply } from './platform-server.ts'
import type { Exchange, ReportExample, ReportExamples } from './test-report-source.ts'

/** Tests of every source of reports: a platform names a next page that cannot be used, refuses an account, or is busy. */

/** How the answers of a platform name the next page. */
export type NextPage = {
  /** The keys that lead to it in the first answer of the first example that has it: `paging.next_link`. */
  readonly at: string
  /** The keys that lead to the list of rows of the same answer. */
  readonly rowsAt: string
  /** A text that is sent back, an address, or a number of rows or pages from which the source computes what it asks for. */
  readonly is: 'token' | 'address' | 'count'
  /** Whether the platform documents an empty text as the end. */
  readonly emptyEnds?: true
  /** Other answers whose next page cannot be used. */
  readonly unusable?: readonly ((answer: Json) => Json)[]
}
type Json = Record<string, unknown>

/** The example that is read, and the way to read it. */
export type FailureRun = {
  readonly given: ReportExamples
  readonly main: ReportExample
  readonly server: () => PlatformServer
  /** Reads an example. @param refuses the refusal of a request, which is asked first */
  readonly read: (example: ReportExample, refuses?: (received: Received) => Reply | undefined) => Promise<Chunk[]>
}

const rowsOf = (chunks: readonly Chunk[]): Row[] =>
  chunks.flatMap(({ rows, errors }) => rows.filter((_, index) => !errors?.has(index)))
const reasonsIn = (chunks: readonly Chunk[]): string[] => chunks.flatMap(({ errors }) => [...(errors?.values() ?? [])])

/** The rows, or the error. */
async function outcomeOf(reading: Promise<Chunk[]>): Promise<Row[] | ConnectorError> {
  try {
    return rowsOf(await reading)
  } catch (error) {
    if (error instanceof ConnectorError) return error
    throw error
  }
}

const unusableValues = {
  token: [7, true, {}, ['more']],
  address: ['https://elsewhere.example/v1?cursor=more&page.token=more', 'no address', 'https://', '', 7, true, {}],
  count: ['many', {}, true],
} as const

const parent = (json: Json, path: string): [Json, string] => {
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  return [keys.reduce((at, key) => (at[key] ?? {}) as Json, json), last]
}
const has = (json: Json, path: string): boolean => {
  const [at, key] = parent(json, path)
  return Object.hasOwn(at, key) && at[key] !== null
}
function changed(json: Json, path: string, value: unknown): Json {
  const copy = structuredClone(json)
  const [at, key] = parent(copy, path)
  at[key] = value
  return copy
}
const jsonOf = ({ answer }: Exchange): Json => (([answer].flat()[0] as Reply).json ?? {}) as Json

/** Registers the tests. */
export function testReportFailures({ given, main, server, read }: FailureRun): void {
  const { nextPage } = given
  if (nextPage !== 'none') {
    const { at, rowsAt, is, emptyEnds, unusable = [] } = nextPage
    const first = main.exchanges.findIndex((exchange) => has(jsonOf(exchange), at))
    const page = main.exchanges[first]
    assert.ok(page, `no exchange of the first example has ${at}`)
    const json = jsonOf(page)
    const readWith = (change: (answer: Json) => Json, isEach = false) =>
      outcomeOf(
        read({
          ...main,
          exchanges: main.exchanges.map((exchange, index) =>
            index === first || (isEach && exchange.path === page.path && exchange.method === page.method)
              ? { ...exchange, answer: { json: change(json) } }
              : exchange,
          ),
        }),
      )

    test('fails if the next page cannot be used', async () => {
      const values = [...unusableValues[is], ...(is === 'token' && !emptyEnds ? [''] : [])]
      const changes = [...values.map((value) => (answer: Json) => changed(answer, at, value)), ...unusable]
      for (const change of changes) {
        const outcome = await readWith(change)
        const title = JSON.stringify(change(json)).slice(-300)
        assert.ok(outcome instanceof ConnectorError, `an end in silence: ${title}`)
        assert.equal(outcome.code, 'malformed_response', title)
        assert.match(outcome.message, /next page/, title)
      }
      if (!emptyEnds) return
      const [kept] = [await readWith((answer) => changed(answer, at, ''))]
      assert.ok(!(kept instanceof ConnectorError))
    })

    if (is !== 'count') {
      test('fails if pages lead back to themselves', async () => {
        const outcome = await readWith((answer) => answer, true)
        assert.ok(outcome instanceof ConnectorError)
        assert.equal(outcome.code, 'malformed_response')
      })
    }

    test('does not end at an empty page that names a next one', async () => {
      const chunks = await read(main)
      const onPage = chunks.find(({ rows }) => rows.length > 0)?.rows.length ?? 0
      const outcome = await readWith((answer) => changed(answer, rowsAt, []))
      if (outcome instanceof ConnectorError) assert.equal(outcome.code, 'malformed_response')
      else assert.deepEqual(outcome, main.rows.slice(onPage))
    })
  }

  const { account } = given.refused
  const another = account.replace(/.$/, (last) => (/\d/.test(last) ? String((Number(last) + 1) % 10) : 'e'))
  const own = String(main.settings.accountIds)
  const settingsOf = (accountIds: string): Values => ({ ...main.settings, accountIds })
  /** Refuses every request about some accounts. */
  const refusing = (accounts: readonly string[], reply: Reply) => (received: Received) => {
    const { 'content-length': _, host: __, ...headers } = received.headers
    const query = [...received.query.values()].join(' ')
    const said = `${decodeURIComponent(received.path)} ${query} ${received.text} ${JSON.stringify(headers)}`
    return accounts.some((one) => new RegExp(`(?<![A-Za-z0-9])${escaped(one)}(?![A-Za-z0-9])`).test(said))
      ? reply
      : undefined
  }
  const refusals: readonly Reply[] = [
    ...[400, 401, 403, 404].map((status) => ({ status, json: {} })),
    ...given.refusals,
  ]

  test('reads an account between two that are refused, whatever the refusal', async () => {
    for (const reply of refusals) {
      const both = [account, another]
      const among = { ...main, settings: settingsOf([account, own, another].join(',')) }
      const chunks = await read(among, refusing(both, reply))
      assert.deepEqual(rowsOf(chunks), main.rows, JSON.stringify(reply))
      assert.deepEqual(
        reasonsIn(chunks).map((reason) => /^The account (\S+) of /.exec(reason)?.[1]),
        both,
        JSON.stringify(reply),
      )
    }
  })

  test('fails if all accounts are refused', async () => {
    for (const reply of refusals) {
      const outcome = await outcomeOf(
        read({ ...main, settings: settingsOf(`${account},${another}`) }, refusing([account, another], reply)),
      )
      assert.ok(outcome instanceof ConnectorError, JSON.stringify(reply))
      assert.ok(['fail', 'reconfigure', 'reauthenticate'].includes(outcome.action), JSON.stringify(reply))
    }
  })

  test('fails at once if the login is refused, and not account by account', async () => {
    let asked = 0
    const outcome = await outcomeOf(
      read({ ...main, settings: settingsOf([account, own, another].join(',')) }, () => {
        asked += 1
        return given.revoked as Reply
      }),
    )
    assert.ok(outcome instanceof ConnectorError)
    assert.equal(outcome.action, 'reauthenticate')
    assert.ok(asked <= 4, `${asked} requests`)
  })

  test('tries again after a transient refusal', async () => {
    const failures: readonly Failure[] = [
      ...[429, 500, 502, 503].map((status) => ({ status, json: {} })),
      ...given.transient,
    ]
    for (const failure of failures) {
      const soon = typeof failure === 'string' ? failure : { ...failure, headers: { 'retry-after': '0' } }
      server().failure(given.reads, soon)
      const outcome = await outcomeOf(read(main))
      if (outcome instanceof ConnectorError) assert.equal(outcome.action, 'retry', JSON.stringify(failure))
      else assert.deepEqual(outcome, main.rows, JSON.stringify(failure))
      server().calm()
    }
  })
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
