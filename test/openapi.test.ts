import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basePath, type ErrorCode, errors, type Operation, operations, refusalsOf } from '@penstock/wire'
import { openApiDocument } from '@penstock/wire/openapi'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { large } from './harness/tiers.ts'

type Json = Record<string, unknown>
type Media = { schema: Json; example?: unknown; examples?: Record<string, { value: unknown }> }
type Answer = { headers?: Json; content: Record<'application/json', Media> }
type Described = {
  operationId: string
  description: string
  security?: unknown
  parameters?: { name: string; in: string; required: boolean; schema: Json; example: unknown }[]
  requestBody?: { required: boolean; content: Record<'application/json', Media> }
  responses: Record<string, Answer>
}

const serverUrl = 'https://data.example.org/penstock'
const document = openApiDocument(serverUrl)
/** Targets of references, each resolved once: a schema that many operations share is compiled once. */
const named = new Map<string, Json>()
const paths = resolve(document.paths) as Record<string, Record<string, Described>>
const described = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, about]) => ({ method: method.toUpperCase(), path, ...about })),
)
const byId = new Map(described.map((about) => [about.operationId, about]))

/** Replaces a reference by its target. Nothing in the document refers to itself. */
function resolve(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(resolve)
  if (typeof node !== 'object' || node === null) return node
  const { $ref, ...rest } = node as Json
  const inside = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, resolve(value)]))
  if (typeof $ref !== 'string') return inside
  const target = named.get($ref) ?? resolveNamed($ref)
  return Object.keys(inside).length === 0 ? target : { ...target, ...inside }
}

function resolveNamed(ref: string): Json {
  const found = ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Json)[key], document)
  assert.ok(found, `${ref} leads nowhere`)
  const resolved = resolve(found) as Json
  named.set(ref, resolved)
  return resolved
}

describe('the OpenAPI document', () => {
  test('has no error and no warning under the rules of spectral:oas', large, async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [[rulesets.oas as RulesetDefinition, 'recommended']] })
    const findings = await linter.run(JSON.stringify(document))
    assert.deepEqual(
      findings.map(({ code, message, path }) => `${code} at ${path.join('.')}: ${message}`),
      [],
    )
  })

  test('names only schemas that something refers to', () => {
    const text = JSON.stringify(document)
    const { schemas } = document.components as { schemas: Json }
    assert.deepEqual(
      Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`)),
      [],
    )
  })

  test('describes every operation of the table, at its path and with its method, and nothing else', () => {
    assert.deepEqual(
      described.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`).sort(),
      Object.entries(operations)
        .map(([id, { method, path }]) => `${id} ${method} ${basePath}${path}`)
        .sort(),
    )
    assert.deepEqual(document.servers, [{ url: serverUrl, description: 'This service' }])
  })

  test('gives examples that their schemas accept', () => {
    const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, formats: { password: true } })
    const accept = (what: string, schema: Json, value: unknown) => {
      assert.notEqual(value, undefined, `${what} has no example`)
      assert.ok(ajv.validate(schema, value), `${what}: ${ajv.errorsText()} in ${JSON.stringify(value)}`)
    }
    const acceptMedia = (what: string, { schema, example, examples }: Media) => {
      if (!examples) return accept(what, schema, example)
      for (const [name, { value }] of Object.entries(examples)) accept(`${what}, ${name}`, schema, value)
    }
    for (const { operationId, parameters, requestBody, responses } of described) {
      for (const { name, schema, example } of parameters ?? []) accept(`${operationId}, ${name}`, schema, example)
      if (requestBody && 'application/json' in requestBody.content)
        acceptMedia(`${operationId}, body`, requestBody.content['application/json'])
      for (const [status, { content }] of Object.entries(responses)) {
        acceptMedia(`${operationId}, ${status}`, content['application/json'])
      }
    }
    const { schemas } = resolve(document.components) as { schemas: Record<string, Json> }
    for (const [name, schema] of Object.entries(schemas)) {
      for (const value of (schema.examples as unknown[]) ?? []) accept(name, schema, value)
    }
  })

  test('answers each operation’s refusals under their status, one example for each code', () => {
    for (const [id, operation] of Object.entries<Operation>(operations)) {
      const { [operation.success ?? 200]: success, ...refusals } = byId.get(id)?.responses ?? {}
      assert.ok(success, `${id} has no answer on success`)
      const shown = Object.entries(refusals).flatMap(([status, { content }]) =>
        Object.entries(content['application/json'].examples ?? {}).map(([code, { value }]) => {
          const { statusCode, response } = value as { statusCode: number; response: { error: string } }
          assert.equal(String(statusCode), status)
          assert.equal(response.error, code)
          return code
        }),
      )
      assert.deepEqual(shown.sort(), refusalsOf(operation).toSorted(), id)
    }
  })

  test('knows an operation for every error code', () => {
    const answered = new Set(Object.values<Operation>(operations).flatMap(refusalsOf))
    assert.deepEqual(
      Object.keys(errors).filter((code) => !answered.has(code as ErrorCode)),
      [],
    )
  })

  test('asks for a token or a session everywhere but where they are issued, and for a session of what a person does', () => {
    assert.deepEqual(document.security, [{ bearer: [] }, { oauth2: [] }, { session: [] }])
    const securedBy = (wanted: unknown) =>
      described
        .filter(({ security }) => JSON.stringify(security) === JSON.stringify(wanted))
        .map(({ operationId }) => operationId)
    assert.deepEqual(securedBy([]), [
      'createToken',
      'getConnectPage',
      'openConnectPage',
      'finishConnectPage',
      'signIn',
      'startPasskeySignIn',
      'signInWithPasskey',
      'getInvitation',
      'acceptInvitation',
      'requestPasswordReset',
      'resetPassword',
    ])
    assert.deepEqual(securedBy([{ session: [] }]), [
      'listSavedFilters',
      'createSavedFilter',
      'updateSavedFilter',
      'deleteSavedFilter',
      'signOut',
      'updateMe',
      'changePassword',
      'listMySessions',
      'endMySession',
      'endMySessions',
      'startPasskeyRegistration',
      'registerPasskey',
      'listMyPasskeys',
      'removePasskey',
    ])
    assert.equal(securedBy(undefined).length + 25, described.length)
  })

  test('names the header fields that come with an answer', () => {
    const headersOf = (id: string, status: number) => Object.keys(byId.get(id)?.responses[status]?.headers ?? {})
    assert.deepEqual(headersOf('listAccounts', 200), ['X-Request-Id', 'X-Total-Count', 'Link'])
    assert.deepEqual(headersOf('getAccount', 200), ['X-Request-Id', 'ETag'])
    assert.deepEqual(headersOf('getAccount', 401), ['X-Request-Id', 'WWW-Authenticate'])
    assert.deepEqual(headersOf('getAccount', 405), ['X-Request-Id', 'Allow'])
    assert.deepEqual(headersOf('getAccount', 429), ['X-Request-Id', 'Retry-After'])
    assert.deepEqual(headersOf('getAccount', 503), ['X-Request-Id', 'Retry-After'])
  })

  test('names the parameters that follow from where an operation acts, and from its method', () => {
    const parametersOf = (id: string) =>
      byId.get(id)?.parameters?.map(({ name, in: place, required }) => `${place} ${name}${required ? '!' : ''}`)
    assert.equal(parametersOf('createToken'), undefined)
    assert.deepEqual(parametersOf('addAccount'), ['header Idempotency-Key'])
    assert.deepEqual(parametersOf('editAccount'), ['path id!', 'header If-Match'])
    assert.deepEqual(parametersOf('restoreConnection'), [
      'path id!',
      'query accountId!',
      'header Idempotency-Key',
      'header If-Match',
    ])
    assert.deepEqual(parametersOf('listConnections')?.[0], 'query accountId')
    assert.match(byId.get('listSupportedConnectors')?.description ?? '', /exactly one of `srcConnectorId`/)
  })
})

describe('refusalsOf', () => {
  const codes = (operation: Partial<Operation>) =>
    refusalsOf({ ...operations.listAccounts, scope: undefined, path: '/things', ...operation } as Operation)

  test('follows from where an operation acts', () => {
    assert.deepEqual(codes({ actsIn: 'public' }), [
      'invalid_request',
      'method_not_allowed',
      'request_timeout',
      'stored_value_unreadable',
      'too_slow',
      'answer_too_large',
      'too_many_connections',
      'headers_too_large',
      'internal',
      'overloaded',
      'unavailable',
    ])
    const added = (actsIn: Operation['actsIn']) =>
      codes({ actsIn }).filter((code) => !codes({ actsIn: 'public' }).includes(code))
    assert.deepEqual(added('organization'), ['unauthorized', 'second_factor_required', 'rate_limited'])
    assert(!codes({ actsIn: 'organization', beforeSecondFactor: true }).includes('second_factor_required'))
    assert.deepEqual(added('organization or account'), [
      'unauthorized',
      'second_factor_required',
      'organization_account_not_allowed',
      'not_found',
      'rate_limited',
      'connector_unavailable',
    ])
    assert.deepEqual(added('account'), [
      'account_required',
      'unauthorized',
      'second_factor_required',
      'organization_account_not_allowed',
      'not_found',
      'rate_limited',
      'connector_unavailable',
    ])
  })

  test('an operation that requires a scope can be forbidden', () => {
    assert(codes({ scope: 'accounts:read' }).includes('forbidden'))
    assert(codes({ person: true }).includes('forbidden'))
  })

  test('follows from the method, the path, and what the request can carry', () => {
    const added = (operation: Partial<Operation>) => codes(operation).filter((code) => !codes({}).includes(code))
    assert.deepEqual(added({ path: '/things/{id}' }), ['not_found'])
    assert.deepEqual(added({ method: 'PUT' }), ['csrf_token_invalid', 'payload_too_large', 'unsupported_media_type'])
    assert.deepEqual(added({ method: 'POST' }), [
      'csrf_token_invalid',
      'payload_too_large',
      'unsupported_media_type',
      'idempotency_key_reused',
    ])
    assert.deepEqual(added({ concurrency: 'etag' }), [])
    assert.deepEqual(added({ concurrency: 'if-match' }), ['precondition_failed'])
    assert.deepEqual(added({ refusals: ['not_editable', 'invalid_request'] }), ['not_editable'])
  })
})
