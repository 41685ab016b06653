import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, Connector, Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { batchOf, connectorErrorOf, type PlatformServer, type Reply, startPlatform } from './platform-server.ts'
import { openJudge } from './published-requests.ts'

/** Rows by the names of their columns. */
type NamedRows = readonly Readonly<Record<string, Cell>>[]

export type DescribedExample = {
  readonly title: string
  readonly operation: string
  readonly settings?: Values
  readonly rows: NamedRows
  /** The requests that must come, in their order; `id` in a body stands for the ID that Penstock makes. */
  readonly requests: readonly {
    readonly method?: string
    readonly path: string
    readonly query?: string
    readonly body?: unknown
  }[]
  /** The answers, in their order; the last one is repeated. */
  readonly answers: readonly Reply[]
  /** Indexes of the rows that a mirror removes. */
  readonly removed?: readonly number[]
  /** Rows that are rejected: indexes, or a number of rows that are not named. */
  readonly rejected?: readonly (number | { readonly count: number })[]
  readonly because?: RegExp
}

export type DescribedExamples = {
  readonly connector: Connector
  readonly secrets: Values
  readonly origin: string
  /** Headers of each request, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The path at which a token is asked for, and the token; absent if none is. */
  readonly token?: { readonly path: string; readonly token: string }
  /** The request of the check; absent if there is none. */
  readonly checks?: string
  /** The name of the facts of the platform's own documents, which judge each request (`published/`). */
  readonly published: string
  /** Keys that the platform takes and its documents do not name, `body.members.*.tags`, and how we know. */
  readonly beyond?: Readonly<Record<string, string>>
  readonly examples: readonly DescribedExample[]
}

/** Tests a described destination by its examples, and by what each must do: limits of the rate, errors, wrong columns, a preview. */
export function testDescribedDestination(given: DescribedExamples): void {
  const { connector, secrets, origin, examples } = given
  const { deliver, discover } = connector.destination ?? {}
  const [first] = examples
  const secret = String(Object.values(secrets).at(-1))
  assert.ok(deliver && first)

  describe(`${connector.name}, by examples`, () => {
    let server: PlatformServer
    let answers: readonly Reply[] = []
    const judge = openJudge(given.published, Object.keys(given.beyond ?? {}))
    let refusals: string[] = []
    beforeEach(async () => {
      refusals = []
      server = await startPlatform((received) => {
        if (received.path === given.token?.path) {
          return { json: { access_token: given.token.token, token_type: 'bearer', expires_in: 3599 } }
        }
        const refusal = received.path === '/' ? undefined : judge.refusal(received)
        if (refusal !== undefined) refusals.push(refusal)
        return refusal === undefined
          ? (answers[Math.min(requests().length, answers.length) - 1] ?? {})
          : { status: 400, json: { message: refusal } }
      })
    })
    afterEach(() => server.close())
    const requests = () => server.received.filter(({ path }) => path !== given.token?.path)
    const columnsOf = (rows: NamedRows) => [...new Set(rows.flatMap((row) => Object.keys(row)))]
    const contextOf = ({ operation, settings, rows }: DescribedExample) =>
      testContext({
        secrets,
        settings: { operation, ...settings },
        columns: columnsOf(rows),
        routes: { [origin]: server.url },
      })
    const batchIn = ({ rows }: DescribedExample) => {
      const columns = columnsOf(rows)
      return batchOf(
        columns,
        rows.map((row): Row => columns.map((name) => row[name] ?? null)),
      )
    }
    const sent = async (example: DescribedExample) => {
      const writer = await deliver.open(contextOf(example))
      const { removed } = example
      if (removed) assert.ok(deliver.removesBy?.({ operation: example.operation, ...example.settings }))
      return writer.deliver({ ...batchIn(example), ...(removed && { removed: new Set(removed) }) })
    }

    for (const example of examples) {
      test(example.title, async () => {
        answers = example.answers
        const { rejected = [] } = await sent(example)
        assert.deepEqual(refusals, [], 'what the documents of the platform refuse')
        assert.deepEqual(
          rejected.map(({ index, count }) => index ?? { count }),
          example.rejected ?? [],
        )
        for (const { reason } of rejected) assert.match(reason, example.because ?? /./)
        assert.deepEqual(
          requests().map(({ method, path, json }) => ({ method, path, body: withoutIds(json) })),
          example.requests.map(({ method = 'POST', path, body }) => ({ method, path, body })),
        )
        for (const [at, { query }] of example.requests.entries()) {
          if (query !== undefined) assert.equal(decodeURIComponent(String(requests()[at]?.query)), query)
        }
        for (const { headers } of requests()) {
          for (const [name, value] of Object.entries(given.headers)) assert.equal(headers[name], value)
        }
      })
    }

    test('has an example of each operation', () => {
      const operation = connector.destination?.fields?.operation
      const tried = new Set(examples.map((example) => example.operation))
      assert.deepEqual([...tried].toSorted(), operation?.options?.toSorted())
    })

    test('waits, tries again or stops by what the platform answers', async () => {
      const cases: readonly (readonly [Reply, string, string])[] = [
        [{ status: 429, headers: { 'retry-after': '7' } }, 'retry', 'rate_limited'],
        [{ status: 500 }, 'retry', 'platform_error'],
        [{ status: 401, json: { message: secret } }, 'reauthenticate', 'invalid_credentials'],
        [{ status: 403 }, 'reconfigure', 'permission_denied'],
      ]
      for (const [answer, action, code] of cases) {
        answers = [answer]
        const error = await connectorErrorOf(sent(first), { secrets: { key: secret } })
        assert.deepEqual([error.action, error.code], [action, code])
        assert.match(error.message, new RegExp(connector.name.replace('.', '\\.')))
      }
    })

    test('rejects the same rows in a preview, and names columns that do not fit', async () => {
      const context = contextOf(first)
      const find = await deliver.rejectionsOf?.(context)
      const empty = batchOf(batchIn(first).columns, [batchIn(first).columns.map(() => null)])
      assert.equal(find?.(batchIn(first)).length, 0)
      assert.equal(find?.(empty).length, 1)
      if (given.checks) answers = [{ json: {} }]
      const findings = await deliver.inspect?.({ ...context, columns: [...context.columns, 'no_such_column'] })
      assert.deepEqual(
        findings?.map(({ column }) => column),
        ['no_such_column'],
      )
    })

    test('offers the columns of each operation', async () => {
      for (const example of examples) {
        const page = await discover?.columns?.({
          ...contextOf(example),
          search: '',
          cursor: undefined,
          size: 100,
          withSamples: false,
        })
        const names = page?.items.map(({ value }) => value) ?? []
        for (const name of columnsOf(example.rows)) assert.ok(names.includes(name), name)
      }
    })

    test('is checked without a change', async () => {
      answers = [{ json: {} }]
      const steps = await connector.check?.(contextOf(first))
      assert.ok(steps?.every(({ ok }) => ok))
      assert.deepEqual(
        requests()
          .filter(({ path }) => path !== '/')
          .map(({ method, path }) => `${method} ${path}`),
        given.checks ? [given.checks] : [],
      )
      if (!given.checks) return
      answers = [{ status: 401 }]
      assert.ok((await connector.check?.(contextOf(first)))?.some(({ ok }) => !ok))
    })
  })
}

/** IDs that Penstock makes, as the texts `id` and `ulid`. */
const withoutIds = (json: unknown): unknown =>
  json === undefined
    ? undefined
    : JSON.parse(
        JSON.stringify(json)
          .replace(/"[0-9a-f]{32}"/g, '"id"')
          .replace(/"0[0-9A-F]{25}"/g, '"ulid"'),
      )
