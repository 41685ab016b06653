import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Connector, FieldDefinition, Fields } from '@penstock/connector'
import { listedConnectors } from '@penstock/connectors'
import { basePath, limits, type Operation, operations, takesIdempotencyKey } from '@penstock/wire'
import type { SecretOwner } from '../packages/server/src/secrets/queries.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { addIncident } from './harness/alerts.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { createLink } from './harness/connect-links.ts'
import { addConnection, addEndedTransfer, addFolder } from './harness/connections.ts'
import { dumpDatabase, placesOf } from './harness/dump.ts'
import {
  anyFile,
  callerOf,
  connectorBySlug,
  destination,
  destinationSecrets,
  source,
  sourceSecrets,
} from './harness/fixtures.ts'
import type { RawRequest } from './harness/service.ts'
import { startTestsWithInbox } from './harness/started.ts'
import { addStreamWithKey } from './harness/streams.ts'
import { addPerson } from './harness/users.ts'

/** Invariant 6: no secret leaves in the clear. */

/** In the lists of connectors, those whose forms together have every kind of field. */
const withSecrets = listedConnectors.filter(({ secrets }) => Object.values(secrets).some(isCallersSecret))
function isCallersSecret({ type, readonly }: FieldDefinition): boolean {
  return type === 'Password' && !readonly
}

const { service, inbox } = await startTestsWithInbox({ env: { PENSTOCK_LOG_LEVEL: 'trace' } })
const organization = await service.addOrganization()
const caller = callerOf(service, organization)

/** Sends a request, and returns the whole response: status, headers and body. */
async function exchange(request: RawRequest): Promise<{ status: number; all: string; text: string }> {
  const { status, headers, text } = await service.send(request)
  return { status, text, all: JSON.stringify(headers) + text }
}

const json = { 'content-type': 'application/json' }
const bearer = () => ({ authorization: `Bearer ${organization.token}` })

/** A value that a field accepts: the canary for a secret, a plain value otherwise. */
/** A field that validates its text accepts one of these. */
const texts = ['plain', 'streams: { a: { path: /a } }', 'files=https://files.example.com', 'email,password']

function valueFor(field: FieldDefinition, canary: string): string | number | boolean | string[] {
  switch (field.type) {
    case 'Password':
      return field.form ? `whsec_${canary}${canary}` : canary
    case 'Text':
      return texts.find((text) => field.wrong?.(text) === undefined) ?? ''
    case 'Date':
      return '2026-01-31'
    case 'Number':
      return field.min ?? 1
    case 'Boolean':
      return true
    case 'Select':
      return field.options?.[0] ?? ''
    case 'Multi-Select':
      return [...(field.options ?? [])].slice(0, 1)
  }
}

const valuesFor = (fields: Fields, canary: string) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { readonly }]) => !readonly)
      .map(([key, field]) => [key, valueFor(field, canary)]),
  )

/** The place of requests: an account, and resources in it that paths name. */
type Place = { accountId: string; pathOf: (operation: Operation) => string }

/** Requests with the canary at every place where it is invalid, so that each is refused. */
function misplaced(canary: string, { accountId, pathOf }: Place): RawRequest[] {
  const requests: RawRequest[] = []
  for (const operation of Object.values<Operation>(operations)) {
    const { method, query = {} } = operation
    const path = pathOf(operation)
    const inAccount = `${path}?accountId=${accountId}`
    const headers = operation.actsIn === 'public' ? {} : bearer()
    // Operations without a token and a body have no place for a secret.
    if (operation.actsIn !== 'public' || operation.body) {
      requests.push({ method, path: inAccount, headers: { authorization: `Bearer ${canary}` } })
    }
    if (operation.actsIn.includes('account')) {
      requests.push({ method, path: `${path}?accountId=${canary}`, headers: { ...headers } })
    }
    requests.push({ method: 'PATCH', path: inAccount, headers: { ...headers, ...json }, body: JSON.stringify(canary) })
    for (const id of operation.path.match(/\{\w+\}/g) ?? []) {
      const elsewhere = pathOf({ ...operation, path: operation.path.replace(id, canary) })
      requests.push({ method, path: `${elsewhere}?accountId=${accountId}`, headers: { ...headers } })
    }
    // A filter and its page links are the caller's own words, given back.
    for (const name of Object.keys(query).filter(
      (name) => !['q', 'tags', 'actorId', 'action', 'targetId'].includes(name),
    )) {
      requests.push({ method, path: `${inAccount}&${name}=${canary}`, headers: { ...headers } })
    }
    if (operation.concurrency === 'if-match') {
      requests.push({ method, path: inAccount, headers: { ...headers, 'if-match': `"${canary}"` } })
    }
    if (method === 'GET') continue
    const send = (body: string, more = {}) =>
      requests.push({ method, path: inAccount, headers: { ...headers, ...json, ...more }, body })
    send(`{"name": "${canary}`)
    send(`{"name": "one", "name": ${canary}}`)
    send(JSON.stringify(canary), { 'content-type': `text/${canary}` })
    if (takesIdempotencyKey(operation)) send('{}', { 'idempotency-key': `${canary}`.repeat(20) })
    const wrongs = [canary, [canary], { inner: canary }, `${canary}\n`, canary.repeat(4_000), `${canary}\0`]
    for (const wrong of wrongs) {
      send(JSON.stringify(wrong))
      const names = Object.keys((operation.body as { properties?: object } | undefined)?.properties ?? {})
      // Almost any text is a valid name, so this makes one that is never valid.
      const bad = typeof wrong === 'string' ? `${wrong}\u0001` : wrong
      send(JSON.stringify({ ...Object.fromEntries(names.map((name) => [name, bad])), unknown: wrong }))
    }
  }
  for (const path of [`/${canary}`, `${basePath}/${canary}`, `/healthz/${canary}`]) {
    requests.push({ method: 'GET', path, headers: bearer() })
  }
  return requests
}

/** Configurations with the canary in fields that cannot take it. */
function invalidValues(canary: string, { secrets }: Connector): Record<string, unknown>[] {
  const bad = [canary.repeat(4_000), [canary], { inner: canary }, `${canary}\0`, `${canary}\ud800`, 7]
  const notText = Object.entries(secrets).filter(([, { type }]) => type !== 'Password' && type !== 'Text')
  return [
    { unknown: canary },
    ...notText.map(([key]) => ({ [key]: canary })),
    ...Object.keys(secrets).flatMap((key) => bad.map((value) => ({ [key]: value, other: canary }))),
  ]
}

const audiences = connectorBySlug('meta-custom-audiences').id

test('a secret is found in no reply, no log line, no metric and no row, whatever is asked', async () => {
  // Only Base64 characters, so that it is valid in every form.
  const canary = `canary${randomBytes(8).toString('hex')}`
  const seen: string[] = []
  const send = async (request: RawRequest) => {
    const { status, all } = await exchange(request)
    assert.notEqual(status, 500, `${request.method} ${request.path} ${request.body}: ${all}`)
    seen.push(all)
    return status
  }
  const account = await caller.addAccountWithSides()
  const accountId = account.id
  const connection = await caller.createConnection(accountId)
  await addFolder(caller, accountId, inbox.folder)
  const active = await addConnection(caller, accountId)
  const transferId = await addEndedTransfer(service, caller, active)
  await caller.expect(caller.call('setSchedule', { ...active, body: { cron: '0 6 * * *' } }))
  const ids: Record<string, string> = {
    Accounts: accountId,
    Connectors: source.id,
    Connections: connection.id,
    Transfers: active.id,
    Clients: (await caller.expect(caller.call('createClient', { body: { name: 'Key' } }))).id,
  }
  const webhook = { url: 'http://127.0.0.1:1/', eventTypes: ['webhook.disabled' as const] }
  ids.Webhooks = (await caller.expect(caller.call('createWebhook', { body: webhook }))).id
  ids['/webhook-deliveries'] = (await caller.expect(caller.call('testWebhook', { id: ids.Webhooks }))).id
  const { ruleId, incidentId } = await addIncident(service, caller, accountId)
  ids['/alert-rules'] = ruleId
  ids['/alert-incidents'] = incidentId
  const template = { name: 'People', accountId, destConnectorId: audiences, mapping: '{"email_sha256": "E-mail"}' }
  ids['/streams'] = (await addStreamWithKey(caller, accountId)).id
  ids['/mapping-templates'] = (await caller.expect(caller.call('createMappingTemplate', { body: template }))).id
  ids['/uploads'] = (await caller.expect(caller.call('createUpload', { accountId, body: anyFile }))).id
  ids['Connect links'] = (await createLink(caller, accountId)).id
  const person = await addPerson(service, organization)
  ids.Users = person.id
  const pathOf = ({ path, tag }: Operation) =>
    basePath +
    path.replace('{id}', ids[path.slice(0, path.indexOf('/{'))] ?? ids[tag] ?? '').replace('{transferId}', transferId)
  await caller.addConnectors(accountId, ...withSecrets)
  assert(withSecrets.length > 20)

  for (const connector of withSecrets) {
    const path = `${basePath}/connectors/${connector.id}/configuration?accountId=${accountId}`
    const put = (secretConfig: unknown) =>
      send({ method: 'PUT', path, headers: { ...bearer(), ...json }, body: JSON.stringify({ secretConfig }) })
    for (const wrong of [source, destination].includes(connector) ? invalidValues(canary, connector) : []) {
      assert.equal(await put(wrong), 400, JSON.stringify(wrong).slice(0, 100))
    }
    assert.equal(await put(valuesFor(connector.secrets, canary)), 200, connector.slug)
    assert.equal(await put({ unknown: canary }), 400)
    const shown = await caller.call('getConnectorConfiguration', { accountId, id: connector.id })
    assert.match(shown.text, /\*{8}/)
    seen.push(shown.text, JSON.stringify(shown.headers))
  }
  for (const operation of Object.values<Operation>(operations).filter(({ method }) => method === 'GET')) {
    const path = pathOf(operation)
    const headers = operation.person ? { ...person.headers } : bearer()
    const choice = operation.exactlyOne ? `&srcConnectorId=${source.id}` : ''
    const { maximum = 500 } = (operation.query?.size ?? {}) as { maximum?: number }
    const size = Math.min(500, maximum)
    const found = await send({ method: 'GET', path: `${path}?accountId=${accountId}&size=${size}${choice}`, headers })
    // No provider is set here.
    assert.equal(found, operation.path === '/organization/single-sign-on' ? 404 : 200, path)
  }
  for (const request of misplaced(canary, { accountId, pathOf })) {
    const status = await send(request)
    assert(status >= 400, `${request.method} ${request.path} ${request.body?.slice(0, 100)}: ${status}`)
  }

  // An error of the database, whose errors quote rows and parameters.
  const { pool } = service.database
  await pool.query('alter table secrets add constraint refused check (false) not valid')
  const body = JSON.stringify({ secretConfig: { ...sourceSecrets, secretAccessKey: canary } })
  const path = `${basePath}/connectors/${source.id}/configuration?accountId=${accountId}`
  const failed = await exchange({ method: 'PUT', path, headers: { ...bearer(), ...json }, body })
  await pool.query('alter table secrets drop constraint refused')
  assert.equal(failed.status, 500)
  assert.match(service.logLines.join(''), /request failed/)

  for (const one of ['/metrics', '/readyz', `${basePath}/openapi.json`]) {
    seen.push((await exchange({ method: 'GET', path: one })).all)
  }
  seen.push(failed.all, ...service.logLines, await dumpDatabase(pool))
  // Messages about values that cannot be parsed quote a few characters. Even the beginning is too much.
  for (const text of seen) assert.deepEqual(placesOf(canary.slice(0, 9), text), [])

  const owner = await firstConfiguration(service.database, { accountId, connectorId: source.id })
  const opened = await openSecrets(service.database, service.service.deps.keyring, owner)
  assert.equal(opened.secretAccessKey, canary)
})

test('what is no secret is found in replies and rows, so that seeking finds', async () => {
  const cursor = `cursor-${randomBytes(8).toString('hex')}`
  const account = await caller.addAccount(cursor)
  assert.equal(placesOf(cursor, JSON.stringify(account)).length, 1)
  assert.equal(placesOf(cursor, await dumpDatabase(service.database.pool)).length, 1)
  for (const hidden of [cursor, `a${cursor}b`, `ab${cursor}`]) {
    assert.equal(placesOf(cursor, `x${Buffer.from(hidden).toString('hex')}`).length, 1)
    assert.notEqual(placesOf(cursor, `${Buffer.from(hidden).toString('base64')}`).length, 0)
  }
})

test('tokens and client secrets are kept as digests alone, and are in no log line', async () => {
  const { token, clientSecret } = organization
  const dump = await dumpDatabase(service.database.pool)
  for (const secret of [token, clientSecret]) {
    const random = secret.slice(secret.indexOf('_') + 1)
    for (const text of [dump, ...service.logLines]) assert.deepEqual(placesOf(random, text), [])
    assert.equal(placesOf(createHash('sha256').update(secret).digest('hex'), dump).length, 1)
  }
})

describe('a sealed secret', () => {
  const secrets = { password: destinationSecrets.password, privateKey: 'canary-private-key' }
  let owner: SecretOwner
  let other: SecretOwner
  before(async () => {
    const accounts = [await caller.addAccountWithSides(), await caller.addAccountWithSides()]
    for (const { id: accountId } of accounts) {
      await caller.configureSides(accountId)
      const body = { secretConfig: { privateKey: secrets.privateKey } }
      await caller.expect(caller.call('configureConnector', { accountId, id: destination.id, body }))
    }
    const [mine, others] = accounts.map(({ id }) => ({ accountId: id, connectorId: destination.id }))
    assert(mine && others)
    owner = await firstConfiguration(service.database, mine)
    other = await firstConfiguration(service.database, others)
  })
  const open = (of: SecretOwner) => openSecrets(service.database, service.service.deps.keyring, of)
  const where = 'account_id = $1 and connector_id = $2 and name = $3 and configuration_id = $4'
  const sealedOf = async ({ accountId, connectorId, configurationId }: SecretOwner, name: string): Promise<Buffer> => {
    const found = await service.database.pool.query(`select sealed from secrets where ${where}`, [
      accountId,
      connectorId,
      name,
      configurationId,
    ])
    return found.rows[0].sealed
  }
  /** Opens the secrets of a connector while one of them holds other bytes. */
  const openWith = async (of: SecretOwner, name: string, sealed: Buffer) => {
    const put = `update secrets set sealed = $5 where ${where}`
    const kept = await sealedOf(of, name)
    await service.database.pool.query(put, [of.accountId, of.connectorId, name, of.configurationId, sealed])
    try {
      return await open(of)
    } finally {
      await service.database.pool.query(put, [of.accountId, of.connectorId, name, of.configurationId, kept])
    }
  }

  test('opens where it belongs', async () => {
    assert.deepEqual(await open(owner), secrets)
    assert.deepEqual(await openWith(owner, 'password', await sealedOf(owner, 'password')), secrets)
  })

  test('does not open in another account, under another connector, another configuration or another name', async () => {
    const sealed = await sealedOf(owner, 'password')
    const { accountId, connectorId: id } = owner
    const body = { name: 'Second', secretConfig: destinationSecrets }
    const { configurationId } = await caller.expect(
      caller.call('createConnectorConfiguration', { accountId, id, body }),
    )
    const places: [SecretOwner, string][] = [
      [other, 'password'],
      [await firstConfiguration(service.database, { ...owner, connectorId: source.id }), 'secretAccessKey'],
      [{ ...owner, configurationId }, 'password'],
      [owner, 'privateKey'],
    ]
    for (const [place, name] of places) await assert.rejects(openWith(place, name, sealed), /does not open/)
  })

  test('does not open with any byte altered, cut off or added', async () => {
    const sealed = await sealedOf(owner, 'password')
    const altered = [...sealed.keys()].map((at) => {
      const copy = Buffer.from(sealed)
      copy.writeUInt8(copy.readUInt8(at) ^ 1, at)
      return copy
    })
    const others = [
      sealed.subarray(0, -1),
      sealed.subarray(1),
      sealed.subarray(0, 29),
      Buffer.alloc(0),
      Buffer.concat([sealed, Buffer.of(0)]),
    ]
    for (const bytes of [...altered, ...others]) {
      await assert.rejects(openWith(owner, 'password', bytes), /does not open|not a sealed value/)
    }
  })

  test('is another one each time, of a value of the greatest length', async () => {
    const password = 'x'.repeat(limits.secretLengthMax)
    const save = { accountId: owner.accountId, id: destination.id, body: { secretConfig: { password } } }
    const sealed = new Set<string>()
    for (const _ of [1, 2, 3]) {
      await caller.expect(caller.call('configureConnector', save))
      sealed.add((await sealedOf(owner, 'password')).toString('hex'))
    }
    assert.equal(sealed.size, 3)
    assert.equal((await open(owner)).password, password)
  })
})
