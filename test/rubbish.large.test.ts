import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { basePath, type ErrorCode, errors, type Operation, type OperationId, operations } from '@penstock/wire'
import { type Inbox, makeInbox } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import fc from './harness/property.ts'
import { exchange, type RawReply, requestBytes } from './harness/raw-http.ts'
import { canary } from './harness/rubbish.ts'
import { draftOf, makeScene, type Scene } from './harness/scenes.ts'
import { assertValid, type Organization, type Reply, startTestService, type TestService } from './harness/service.ts'
import {
  commonSpoilings,
  type Draft,
  mustRefuse,
  ownSpoilings,
  Raw,
  type Spoiling,
  writeJson,
} from './harness/spoilings.ts'
import { type WatchedRows, watchRows } from './harness/watched-rows.ts'

/**
 * Rubbish is sent to every operation of the table, over a real socket. In every case, the answer is not an internal error but
 * the envelope with a code of the contract, and refused requests change nothing.
 */

const operationIds = Object.keys(operations) as OperationId[]
/** Bytes of a refusal: enough for every error that it names, not for what was sent. */
const refusalBytesMax = 32_768
const combinationsOfEach = 20
/** Operations that need a new passkey, a provider that responds, a mail server, or a database of a sample are refused from the start. */
const ofCeremony: { readonly [I in OperationId]?: number } = {
  registerPasskey: 400,
  removePasskey: 404,
  signInWithPasskey: 401,
  getSingleSignOn: 404,
  setSingleSignOn: 422,
  deleteSingleSignOn: 404,
  retryTransfer: 409,
  testAlertRule: 409,
  deleteSample: 404,
  previewSample: 404,
}
/**
 * Rubbish that is not specific to an operation is sent to every fifth operation separately, and to all of them in combinations.
 */
const shares = 5

let service: TestService
let organization: Organization
let port: number
let inbox: Inbox
/** Resources of all requests. Changes of a request are rolled back. */
let scene: Scene
let rows: WatchedRows
before(async () => {
  inbox = await makeInbox()
  service = await startTestService({
    ...inbox.env,
    PENSTOCK_PUBLIC_URL: 'http://127.0.0.1:8080',
    PENSTOCK_LOG_LEVEL: 'warn',
    // Each request comes from a separate address, because guesses are throttled by address.
    PENSTOCK_TRUSTED_PROXIES: '127.0.0.1',
  })
  organization = await service.addOrganization()
  await service.service.app.listen({ port: 0, host: '127.0.0.1' })
  scene = await makeScene(service, callerOf(service, organization), inbox.folder)
  rows = await watchRows(service.database.pool)
  port = (service.service.app.server.address() as AddressInfo).port
})
after(async () => {
  await service.close()
  await inbox.remove()
})

const newDraft = (id: OperationId) => draftOf(id, scene, organization)

function send({ method, path, query, headers, json, bytes }: Draft): Promise<RawReply> {
  const body = bytes ?? (json === undefined ? undefined : Buffer.from(writeJson(json)))
  const parameters = query.map(([name, value]) => `${name}=${value}`).join('&')
  return exchange(
    port,
    requestBytes({
      method,
      target: `${basePath}${path}${parameters === '' ? '' : `?${parameters}`}`,
      headers: [...headers, ...(body === undefined ? [] : [['content-length', String(body.length)] as const])],
      body,
    }),
    { head: method === 'HEAD' },
  )
}

/** Fails unless the reply is a valid reply to rubbish. */
function judge(id: OperationId, method: string, { status, headers, text }: RawReply): void {
  assert(status < 500, `an internal error: ${status} ${text}`)
  if (method === 'HEAD') return
  assert.match(headers['content-type'] ?? '', /^application\/json; charset=utf-8$/)
  const json: Reply['json'] = JSON.parse(text)
  if (method === operations[id].method) {
    assertValid(id, { status, headers, text, json, response: json.response, error: undefined, details: [] })
  }
  if (status < 400) return
  assert.deepEqual(Object.keys(json), ['statusCode', 'statusMessage', 'response'])
  const { error, requestId, details, ...more } = json.response as {
    error: ErrorCode
    requestId: string
    details: unknown[]
  }
  assert.deepEqual(Object.keys(more), error === 'platform_refused' ? ['cause'] : [])
  assert(Object.hasOwn(errors, error), `${error} is no code of the contract`)
  assert.deepEqual([json.statusCode, json.statusMessage], [status, errors[error].message])
  assert.equal(errors[error].status, status)
  assert.match(requestId, /^[0-9a-f]{16}$/)
  for (const detail of details) assert.deepEqual(Object.keys(detail as object), ['field', 'message'])
  const bytes = Buffer.byteLength(text)
  assert(bytes <= refusalBytesMax, `${bytes} bytes of refusal begin with ${text.slice(0, 300)}`)
  // The message of the source names the requested resource, such as a missing file.
  if (error !== 'platform_refused')
    assert(
      !text.replaceAll(/"field":"(?:[^"\\]|\\.)*"/g, '').includes(canary),
      `a value comes back: ${text.slice(0, 1000)}`,
    )
  if (status === 401) assert.equal(headers['www-authenticate'], 'Bearer')
  if (status === 405) assert(headers.allow)
  if (status === 429) assert(Number(headers['retry-after']) > 0)
}

describe('every operation answers rubbish, and what it refuses changes nothing', () => {
  for (const id of operationIds) {
    test(`${id}`, async () => {
      const operation: Operation = operations[id]
      assert.equal(
        await meet(id, []),
        ofCeremony[id] ?? operation.success ?? 200,
        'the request is not valid to begin with',
      )

      // Requests that can get any refusal, and are handled alike by every operation, are distributed over the
      // operations.
      const common = commonSpoilings()
      const turn = operationIds.indexOf(id) % shares
      const share = common.filter(({ name }, at) => at % shares === turn || mustRefuse(operation, name) !== undefined)
      const own = ownSpoilings(operation, newDraft(id))
      const all = [...own, ...share]
      const failures: string[] = []
      for (const one of all) {
        try {
          const status = await meet(id, [one])
          const refused = mustRefuse(operation, one.name)
          assert(refused?.includes(status) ?? true, `answered ${status}, not ${refused}`)
        } catch (error) {
          failures.push(`${one.name}: ${(error as Error).message}`)
        }
      }
      assert.equal(failures.length, 0, `\n${failures.join('\n')}`)

      const byName = new Map([...own, ...common].map((one) => [one.name, one]))
      const some = fc.uniqueArray(fc.constantFrom(...byName.keys()), { minLength: 2, maxLength: 4 })
      const body = fc.oneof(fc.json({ noUnicodeString: false }), fc.string({ unit: 'binary' }))
      await fc.assert(
        fc.asyncProperty(some, fc.option(body), async (names, text) => {
          const withText = (draft: Draft) => {
            if (text !== null) draft.json = new Raw(text)
          }
          await meet(id, [...names.flatMap((name) => byName.get(name) ?? []), { name: 'body', spoil: withText }])
        }),
        { numRuns: combinationsOfEach },
      )
    })
  }
})

/**
 * Sends a spoiled request of an operation. Its writes are rolled back. A refused request, or a read, must write
 * nothing.
 */
async function meet(id: OperationId, spoiled: readonly Spoiling[]): Promise<number> {
  const draft = newDraft(id)
  for (const { spoil } of spoiled) spoil(draft)
  const reply = await send(draft)
  const changed = await rows.changed()
  if (changed.length > 0) await rows.restore(changed)
  judge(id, draft.method, reply)
  const wrote = reply.status < 400 && ['POST', 'PUT', 'DELETE'].includes(draft.method)
  if (!wrote) assert.deepEqual(changed, [], `changed although answered ${reply.status}`)
  return reply.status
}

test('a method that a path does not accept is answered with those that it takes', async () => {
  const paths = Map.groupBy(operationIds, (id) => operations[id].path)
  const failures: string[] = []
  for (const [path, ids] of paths) {
    const taken = ids.flatMap((id) => (operations[id].method === 'GET' ? ['GET', 'HEAD'] : [operations[id].method]))
    // CONNECT is for proxies, and a QUERY without a body is refused before its path is looked at.
    const others = METHODS.filter((name) => !['CONNECT', 'QUERY', ...taken].includes(name))
    const missed: string[] = []
    for (const method of others) {
      const { status, headers } = await send({ ...newDraft(ids[0] as OperationId), method, json: undefined })
      const allowed = headers.allow?.split(', ').sort().join()
      if (status !== 405 || allowed !== [...taken].sort().join()) missed.push(`${method} ${status}`)
    }
    if (missed.length > 0) failures.push(`${path}: ${missed.join(', ')}`)
  }
  assert.equal(failures.length, 0, `\n${failures.join('\n')}`)
})

test('size and offset take whole numbers within their bounds and nothing else', async () => {
  const wrong = [
    '',
    ' ',
    '-1',
    '1.5',
    '1e1',
    '0x10',
    '%205',
    '5%20',
    '+5',
    '٣',
    'five',
    '1e400',
    '99999999999999999999',
    'null',
    'true',
  ]
  const failures: string[] = []
  for (const id of operationIds) {
    const operation: Operation = operations[id]
    if (operation.list !== 'paged') continue
    for (const [name, value] of [
      ...wrong.flatMap(
        (value) =>
          [
            ['size', value],
            ['offset', value],
          ] as const,
      ),
      ['size', '0'],
      ['size', '501'],
      ['offset', '2147483648'],
    ] as const) {
      const draft = newDraft(id)
      draft.query = [...draft.query.filter(([known]) => known !== name), [name, value.replace('٣', '%D9%A3')]]
      const { status, text } = await send(draft)
      if (status !== 400 || !text.includes(`"field":"query.${name}"`))
        failures.push(`${id} ${name}=${value}: ${status}`)
    }
  }
  assert.equal(failures.length, 0, `\n${failures.join('\n')}`)
})
