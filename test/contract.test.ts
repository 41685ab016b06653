import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { basePath, type Operation, type OperationId, operations, takesIdempotencyKey } from '@penstock/wire'
import { openApiDocument } from '@penstock/wire/openapi'
import { addConnection } from './harness/connections.ts'
import { contentOf } from './harness/content.ts'
import { badAuthorizations } from './harness/credentials.ts'
import {
  type AnyCall,
  addParty,
  allowedMethods,
  callOf,
  type Party,
  type Scenario,
  scenarios,
} from './harness/scenarios.ts'
import { type CallOptions, type RawRequest, type Reply, requestOf } from './harness/service.ts'
import { assertShape, refused } from './harness/shapes.ts'
import { startTestsWithInbox } from './harness/started.ts'

type Parameter = { readonly $ref?: string; readonly name: string; readonly required: boolean }
const document = openApiDocument('https://data.example.org') as unknown as {
  paths: Record<string, Record<string, { parameters?: readonly Parameter[] }>>
  components: { parameters: Record<string, Parameter> }
}
/** The parameter `accountId` of an operation, as the document of the API has it. */
const accountIdOf = ({ path, method }: Operation) =>
  document.paths[basePath + path]?.[method.toLowerCase()]?.parameters
    ?.map((one) => (one.$ref ? document.components.parameters[one.$ref.split('/').at(-1) ?? ''] : one))
    .find((one) => one?.name === 'accountId')

/** The contract, walked: every operation, so that a new one cannot be forgotten. */

const { service, inbox } = await startTestsWithInbox()
const owner = await addParty(service, inbox.folder)
const stranger = await addParty(service, inbox.folder)
const strangersAccountId = (await stranger.caller.addAccountWithSides()).id
const badAuthorization = await badAuthorizations(service, owner.organization)

/** The call of a party as the harness types it. By default the owner's call. */
const by = (id: OperationId, call: AnyCall, party = owner) => callOf(party, id, call) as CallOptions<never>
const requestFor = (id: OperationId, call: AnyCall, party?: Party): RawRequest =>
  requestOf(operations[id], by(id, call, party))
const send = (id: OperationId, call: AnyCall, party?: Party) => service.send(requestFor(id, call, party))

/** A reply without what differs between two that say the same. */
function comparable({ status, text, headers }: Reply) {
  const { 'x-request-id': requestId = '', date: _, ...rest } = headers
  return { status, headers: rest, text: text.replaceAll(requestId, 'requestId') }
}

function assertRefused(reply: Reply, status: number, error: string, fields?: string[]): void {
  assert.deepEqual([reply.status, reply.error], [status, error], reply.text)
  assert.deepEqual(Object.keys(reply.json), ['statusCode', 'statusMessage', 'response'])
  assert.equal(reply.json.statusCode, status)
  assert.match(reply.json.statusMessage, /\S/)
  assertShape(reply.response, refused)
  assert.equal((reply.response as { requestId: string }).requestId, reply.headers['x-request-id'])
  if (fields)
    assert.deepEqual(
      reply.details.map(({ field }) => field),
      fields,
    )
}

const unknownId = () => randomBytes(8).toString('hex')
const pathOf = ({ request }: Scenario) => request.slice(request.indexOf('/'))
const lines = (entries: [string, string][]) => entries.map(([id, line]) => `${id}: ${line}`).sort()

test('every operation of the contract has a scenario, and every scenario an operation', () => {
  const contract = Object.entries(operations).map(([id, { method, path }]): [string, string] => [
    id,
    `${method} ${path}`,
  ])
  const walked = Object.entries(scenarios).map(([id, { request }]): [string, string] => [id, request])
  assert.deepEqual(lines(contract), lines(walked))
  assert.deepEqual([...new Set(Object.values(scenarios).map(pathOf))].sort(), Object.keys(allowedMethods).sort())
})

test('a method that no operation takes is answered with 405 and Allow', async () => {
  for (const [path, allow] of Object.entries(allowedMethods)) {
    const reply = await service.send({ method: 'TRACE', path: `/es/v2${path.replaceAll(/\{\w+\}/g, unknownId)}` })
    assertRefused(reply, 405, 'method_not_allowed')
    assert.equal(reply.headers.allow, allow)
  }
})

for (const [name, scenario] of Object.entries(scenarios)) {
  const id = name as OperationId
  const operation: Operation = operations[id]
  const prepare = () => scenario.prepare(owner)
  const writes = operation.method !== 'GET'
  const isPublic = scenario.acts === 'for anyone'

  describe(id, () => {
    test('answers with its status and exactly the keys of the specification', async () => {
      const reply = await service.call(id, by(id, await prepare()))
      assert.equal(reply.status, scenario.status, reply.text)
      assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
      assert.match(reply.headers['x-request-id'] ?? '', /^[0-9a-f]{16}$/)
      if (!scenario.bare) {
        assert.deepEqual(Object.keys(reply.json), ['statusCode', 'statusMessage', 'response'])
        assert.equal(reply.json.statusCode, scenario.status)
        assert.match(reply.json.statusMessage, /\S/)
      }
      assertShape(reply.response, scenario.reply)
      if (Array.isArray(reply.response)) assert(reply.response.length > 0, 'an empty list proves nothing')
    })

    test('gives each request an identifier of its own, refused ones too', async () => {
      const call = await prepare()
      const replies = [
        await send(id, call),
        await send(id, call),
        await send(id, { headers: { authorization: 'Bearer -' } }),
      ]
      assert.equal(new Set(replies.map(({ headers }) => headers['x-request-id'])).size, 3)
    })

    test(isPublic ? 'asks for no token' : 'refuses without a valid token, and changes nothing', async () => {
      const call = await prepare()
      const content = await contentOf(service)
      for (const [what, authorization] of Object.entries(badAuthorization)) {
        // A call that anyone can make may work only once.
        const request = requestFor(id, isPublic ? await prepare() : call)
        const { authorization: _, cookie: __, ...headers } = request.headers ?? {}
        if (authorization !== undefined) headers.authorization = authorization
        const reply = await service.send({ ...request, headers })
        if (isPublic) {
          assert.equal(reply.status, scenario.status, what)
        } else {
          assertRefused(reply, 401, 'unauthorized')
          assert.equal(reply.headers['www-authenticate'], 'Bearer', what)
        }
      }
      if (!isPublic) assert.equal(await contentOf(service), content)
    })

    if (!isPublic) {
      test('shows nothing of another organization, and changes nothing there', async () => {
        const call = await prepare()
        const content = await contentOf(service)
        for (const [foreign, unknown] of foreignAndUnknown(scenario, call)) {
          const reply = await send(id, foreign, stranger)
          assertRefused(reply, 404, 'not_found')
          assert.deepEqual(comparable(reply), comparable(await send(id, unknown, stranger)))
        }
        const { accountId: _, ...anywhere } = call
        if (scenario.acts !== 'in a sub-account' && Array.isArray(scenario.reply)) {
          const theirs = JSON.stringify((await send(id, anywhere, stranger)).response)
          const ours = (await send(id, anywhere)).response as { id?: string; hash?: string; accountId: string }[]
          assert(ours.length > 0 && ours.every(({ id, hash, accountId }) => !theirs.includes(id ?? hash ?? accountId)))
        }
        assert.equal(await contentOf(service), content)
      })
    }

    test('answers other methods with 405 and Allow', async () => {
      const allowed = allowedMethods[pathOf(scenario)]?.split(', ') ?? []
      assert(allowed.includes(operation.method))
      const { path } = requestFor(id, { id: unknownId(), transferId: unknownId(), accountId: unknownId() })
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (allowed.includes(method)) continue
        const reply = await service.send({ method, path })
        assert.equal(reply.status, 405, `${method} ${path}`)
        assert.deepEqual(reply.headers.allow?.split(', ').sort(), allowed.toSorted(), method)
        if (method !== 'HEAD') assertRefused(reply, 405, 'method_not_allowed')
      }
    })

    if (scenario.acts === 'in a sub-account') {
      test('acts in a sub-account, and never in the organization account', async () => {
        const { accountId: _, ...call } = await prepare()
        assert.equal(accountIdOf(operation)?.required, true)
        const content = await contentOf(service)
        for (const missing of [call, { ...call, accountId: '' }]) {
          assertRefused(await send(id, missing), 400, 'account_required', ['query.accountId'])
        }
        const { organizationId } = owner.organization
        const inOrganization = await send(id, { ...call, accountId: organizationId })
        assertRefused(inOrganization, 403, 'organization_account_not_allowed')
        for (const accountId of [unknownId(), 'x', `${unknownId()}0`, '%', "'", '../']) {
          assertRefused(await send(id, { ...call, accountId }), 404, 'not_found')
        }
        const { path, ...request } = requestFor(id, { ...call, accountId: unknownId() })
        const twice = await service.send({ ...request, path: `${path}&accountId=${unknownId()}` })
        assertRefused(twice, 400, 'invalid_request', ['query.accountId'])
        assert.equal(await contentOf(service), content)
      })
    } else {
      test('needs no accountId', async () => {
        const { accountId: _, ...call } = await prepare()
        assert(!accountIdOf(operation)?.required)
        assert.equal((await send(id, call)).status, scenario.status)
        const { organizationId } = owner.organization
        if (call.id) assertRefused(await send(id, { ...call, id: organizationId }), 404, 'not_found')
      })
    }

    for (const key of ['id', 'transferId'] as const) {
      if (!operation.path.includes(`{${key}}`)) continue
      test(`answers a malformed ${key} like an unknown one`, async () => {
        const call = await prepare()
        const unknown = comparable(await send(id, { ...call, [key]: unknownId() }))
        assert.equal(unknown.status, 404)
        const own = call[key]
        const malformed = ['x', 'ABCDEF0123456789', `${own}0`, `${own} `, '%', '\0', "'", 'ü', ' ', '..%2f']
        for (const bad of malformed) {
          assert.deepEqual(comparable(await send(id, { ...call, [key]: bad })), unknown, JSON.stringify(bad))
        }
      })
    }

    if (operation.path.includes('{transferId}')) {
      test('knows a transfer under its own connection alone', async () => {
        const [one, other] = [await prepare(), await prepare()]
        const { accountId = '' } = one
        const sibling = (await addConnection(owner.caller, accountId, 'Sibling')).id
        const content = await contentOf(service)
        for (const call of [
          { ...one, id: sibling },
          { ...one, transferId: other.transferId ?? '' },
        ]) {
          assertRefused(await send(id, call), 404, 'not_found')
        }
        assert.equal(await contentOf(service), content)
      })
    }

    if (!writes) {
      test('answers HEAD like GET, without a body', async () => {
        const request = requestFor(id, await prepare())
        const [head, get] = [await service.send({ ...request, method: 'HEAD' }), await service.send(request)]
        assert.equal(head.text, '')
        assert.deepEqual({ ...comparable(head), text: '' }, { ...comparable(get), text: '' })
        const refused = await service.send({ method: 'HEAD', path: request.path })
        assert.deepEqual([refused.status, refused.text], [401, ''])
      })
    }

    if (scenario.etag) {
      test('carries an ETag that stays while nothing changes', async () => {
        const call = await prepare()
        const [one, two] = [await send(id, call), await send(id, call)]
        assert.match(one.headers.etag ?? '', /^"[^"]+"$/)
        assert.equal(one.headers.etag, two.headers.etag)
      })
    }

    if (scenario.changes) {
      const read = scenario.changes
      test('checks If-Match: 412 where it changed, done where it did not', async () => {
        const call = await prepare()
        const { body: _, ...readCall } = call
        const currentEtag = async () => (await send(read, readCall)).headers.etag ?? ''
        const etag = await currentEtag()
        const content = await contentOf(service)
        for (const stale of ['"stale"', `W/${etag}`, etag.replaceAll('"', ''), '"one", "two"']) {
          const reply = await send(id, { ...call, headers: { 'if-match': stale } })
          assertRefused(reply, 412, 'precondition_failed', ['header.if-match'])
        }
        assert.equal(await contentOf(service), content)
        const reply = await send(id, { ...call, headers: { 'if-match': `"stale", ${etag}` } })
        assert.equal(reply.status, scenario.status, reply.text)
        assert.notEqual(await contentOf(service), content)
        if (reply.headers.etag) assert.equal(reply.headers.etag, await currentEtag())
        assert.notEqual(await currentEtag(), etag)
        const anyVersion = { ...(await prepare()), headers: { 'if-match': '*' } }
        assert.equal((await send(id, anyVersion)).status, scenario.status)
      })
    }

    if (takesIdempotencyKey(operation)) {
      test('does its work once under an Idempotency-Key, and gives the first answer again', async () => {
        const call = { ...(await prepare()), headers: { 'idempotency-key': unknownId() } }
        const first = await send(id, call)
        assert.equal(first.status, scenario.status, first.text)
        const content = await contentOf(service)
        assert.deepEqual(comparable(await send(id, call)), comparable(first))
        assert.equal(await contentOf(service), content)
      })
    }

    if (scenario.again) {
      test('answers with what is active, and starts nothing more', async () => {
        const call = await prepare()
        const first = await send(id, call)
        assert.equal(first.status, scenario.status, first.text)
        const content = await contentOf(service)
        const again = await send(id, call)
        assert.deepEqual([again.status, again.response], [scenario.again, first.response])
        assert.notEqual(again.json.statusMessage, first.json.statusMessage)
        assert.equal(await contentOf(service), content)
      })
    }

    if (operation.body) {
      test('refuses a body that is missing, no JSON object, of another type, too large, or has a field too many', async () => {
        const { body, ...call } = await prepare()
        const content = await contentOf(service)
        const sendRaw = (raw: string | undefined, type = 'application/json') =>
          service.send({
            ...requestFor(id, { ...call, headers: { ...call.headers, 'content-type': type } }),
            ...(raw === undefined ? {} : { body: raw }),
          })
        for (const raw of [undefined, '', '{', 'null', '[]', '"text"', '7', '{"__proto__": {}}']) {
          assertRefused(await sendRaw(raw), 400, 'invalid_request')
        }
        const unknownField = JSON.stringify({ ...body, unheardOf: 1 })
        assertRefused(await sendRaw(unknownField), 400, 'invalid_request', ['body.unheardOf'])
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16']) {
          assertRefused(await sendRaw(JSON.stringify(body), type), 415, 'unsupported_media_type')
        }
        const large = JSON.stringify({ ...body, large: 'x'.repeat(1_048_576) })
        assertRefused(await sendRaw(large), 413, 'payload_too_large')
        assert.equal(await contentOf(service), content)
      })
    } else if (writes && !operation.file) {
      test('takes no body', async () => {
        const call = await prepare()
        const request = requestFor(id, { ...call, headers: { ...call.headers, 'content-type': 'application/json' } })
        assertRefused(await service.send({ ...request, body: '{"force": true}' }), 400, 'invalid_request', ['body'])
        assert.equal((await service.send({ ...request, body: '{}' })).status, scenario.status)
      })
    }
  })
}

/** Calls that name resources of another organization, each with a call that names a resource that does not exist. */
function foreignAndUnknown({ request }: Scenario, call: AnyCall): [AnyCall, AnyCall][] {
  const ownId = call.id !== undefined && !request.includes('/connectors/')
  const withUnknownId = { ...call, ...(ownId ? { id: unknownId() } : {}) }
  if (call.accountId === undefined) return ownId ? [[call, withUnknownId]] : []
  const pairs: [AnyCall, AnyCall][] = [[call, { ...withUnknownId, accountId: unknownId() }]]
  // The resource of another organization, requested in an account of the caller.
  const accountId = strangersAccountId
  if (ownId)
    pairs.push([
      { ...call, accountId },
      { ...withUnknownId, accountId },
    ])
  return pairs
}
