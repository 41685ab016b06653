import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Connector, ErasedPerson, PersonIdentifier, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { connectorErrorOf, type Reply, startPlatform } from './platform-server.ts'
import { openJudge } from './published-requests.ts'

/** A person in the examples, and headers that sign in. */
export const email: PersonIdentifier = { kind: 'email', value: 'Jane@example.com' }
export const phone: PersonIdentifier = { kind: 'phone', value: '+13115552368' }
export const externalId: PersonIdentifier = { kind: 'externalId', value: 'u1' }
export const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export type ErasureExamples = {
  readonly connector: Connector
  readonly secrets: Values
  readonly origin: string
  /** Headers of each request, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The path at which a token is asked for, and the token; absent if none is. */
  readonly token?: { readonly path: string; readonly token: string }
  /** The name of the facts of the platform's own documents, which judge each request (`published/`). */
  readonly published: string
  /** Keys that the platform takes and its documents do not name. */
  readonly beyond?: Readonly<Record<string, string>>
  /** The status by which the platform says to a search that it has nobody. */
  readonly missing?: { readonly status: number }
  readonly examples: readonly ErasureExample[]
}

type ErasureExample = {
  readonly person: PersonIdentifier
  /** The requests that must come, in their order. `id`: a UUID; `now`: a time. */
  readonly requests: readonly {
    readonly method?: string
    readonly path: string
    readonly query?: string
    readonly body?: unknown
  }[]
  /** The answers, in their order. */
  readonly answers: readonly Reply[]
  readonly outcome: ErasedPerson['outcome']
}

/** Asks for a pause that nobody waits for. */
const busy = { status: 503, headers: { 'retry-after': '60' } }

/** Tests how a platform erases a person, by examples of each kind of identifier, and what errors mean. */
export function testErasure(given: ErasureExamples): void {
  const { connector, secrets, origin, examples } = given
  const { erasure } = connector.destination ?? {}
  const [first] = examples
  assert.ok(erasure && first)
  const canaries = Object.fromEntries(Object.entries(secrets).filter(([, value]) => /canary/.test(String(value))))

  describe(`${connector.name}, erasing people`, () => {
    const judge = openJudge(given.published, Object.keys(given.beyond ?? {}))
    const erase = async ({ person, answers }: Pick<ErasureExample, 'person' | 'answers'>) => {
      const refusals: string[] = []
      const server = await startPlatform((received) => {
        if (received.path === given.token?.path) {
          return { json: { access_token: given.token.token, token_type: 'bearer', expires_in: 3599 } }
        }
        const refusal = judge.refusal(received)
        if (refusal !== undefined) refusals.push(refusal)
        return refusal === undefined
          ? (answers[Math.min(requests().length, answers.length) - 1] ?? {})
          : { status: 400 }
      })
      const requests = () => server.received.filter(({ path }) => path !== given.token?.path)
      try {
        const context = testContext({ secrets, routes: { [origin]: server.url } })
        const asked = await (await erasure.open(context))(person).then(
          (answer) => ({ answer }),
          (error: unknown) => ({ error }),
        )
        assert.deepEqual(refusals, [], 'what the documents of the platform refuse')
        return { ...asked, requests: requests() }
      } finally {
        await server.close()
      }
    }

    for (const example of examples) {
      const { kind, value } = example.person
      test(`asks for ${kind} ${value}, which is ${example.outcome}`, async () => {
        const asked = await erase(example)
        assert.ok('answer' in asked, `no error: ${'error' in asked && asked.error}`)
        assert.equal(asked.answer.outcome, example.outcome)
        assert.deepEqual(
          asked.requests.map(({ method, path, query, json }) => ({
            method,
            path,
            query: decodeURIComponent(String(query)),
            body: withoutIds(json),
          })),
          example.requests.map(({ method = 'POST', path, query = '', body }) => ({ method, path, query, body })),
        )
        for (const { headers } of asked.requests) {
          for (const [name, wanted] of Object.entries(given.headers)) assert.equal(headers[name], wanted)
        }
      })
    }

    test('has an example of each kind of identifier', () => {
      assert.deepEqual(
        [...new Set(examples.map(({ person }) => person.kind))].toSorted(),
        [...erasure.by({})].toSorted(),
      )
    })

    test('claims nothing if the platform does not answer what it documents', async () => {
      for (const answer of [{ status: 401 }, { status: 403 }, { status: 404, text: 'gone' }, busy]) {
        if (answer.status === given.missing?.status) continue
        const asked = await erase({ person: first.person, answers: [answer] })
        const promise = 'error' in asked ? Promise.reject(asked.error) : Promise.resolve()
        const error = await connectorErrorOf(promise, { secrets: canaries })
        assert.match(error.message, new RegExp(connector.name.replace('.', '\\.').split(' ')[0] ?? ''))
      }
    })
  })
}

/** IDs and times that Penstock makes, as the texts `id` and `now`. */
const withoutIds = (json: unknown): unknown =>
  json === undefined
    ? undefined
    : JSON.parse(
        JSON.stringify(json)
          .replace(/"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"/g, '"id"')
          .replace(/"20\d\d-\d\d-\d\dT[\d:.]+Z"/g, '"now"'),
      )
