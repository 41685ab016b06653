import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  type BodyOf,
  connectLinkScopes,
  limits,
  type Operation,
  type OperationId,
  operations,
  type Scope,
} from '@penstock/wire'
import { purge } from '../packages/server/src/worker/purge.ts'
import { anAddress, createLink, openLink, tokenOf } from './harness/connect-links.ts'
import { addFolder, type Inbox, localFolder, makeInbox } from './harness/connections.ts'
import {
  type Caller,
  callerOf,
  connectorBySlug,
  destination,
  destinationSettings,
  source,
  sourceSecrets,
  sourceSettings,
} from './harness/fixtures.ts'
import { scenarios } from './harness/scenarios.ts'
import {
  type CallOptions,
  type Organization,
  type Reply,
  requestOf,
  startTestService,
  type TestService,
} from './harness/service.ts'
import { addPerson } from './harness/users.ts'

/** Connect links: who can create them, what their pages can do, and what they cannot. */

let inbox: Inbox
let service: TestService
let organization: Organization
let caller: Caller
let accountId: string
before(async () => {
  inbox = await makeInbox()
  service = await startTestService({ ...inbox.env, PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' })
  organization = await service.addOrganization()
  caller = callerOf(service, organization)
})
after(async () => {
  await service.close()
  await inbox.remove()
})
beforeEach(async () => {
  accountId = (await caller.addAccount()).id
})

const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const create = (body: Partial<BodyOf<'createConnectLink'>> = {}) => createLink(caller, accountId, body)
const statusOf = async (id: string) => (await caller.expect(caller.call('getConnectLink', { id }))).status
const get = (token: string) => service.call('getConnectPage', { body: { token }, headers: anAddress() })
const finish = (token: string, outcome: 'completed' | 'cancelled' = 'completed') =>
  service.call('finishConnectPage', { body: { token, outcome }, headers: anAddress() })
const configure = (token: string, secretConfig: object = sourceSecrets, id = source.id) =>
  service.call('configureConnector', { token, accountId, id, body: { secretConfig } as never })
const template = { name: 'From a customer', srcConnectorId: source.id, destConnectorId: destination.id }
const unusable = (reply: Reply<unknown>) =>
  assert.deepEqual([reply.status, reply.error], [404, 'link_invalid'], reply.text)
const code = ({ status, error }: Reply<unknown>) => [status, error]

describe('creating a link', () => {
  test('adds the connectors, and returns the address once', async () => {
    const link = await create({ redirectUrl: 'https://shop.example.com/a?b=c#d', expiry: 60 })
    assert.match(link.url, new RegExp(`^http://penstock\\.test/connect/${link.id}#psl_[\\w-]{43}$`))
    assert.equal(link.status, 'pending')
    assert.equal(link.expiresTime - link.createdTime, 60)
    const added = await caller.expect(caller.call('listAddedConnectors', { accountId }))
    assert.deepEqual(
      added.map(({ connectorId }) => connectorId),
      [source.id],
    )
    const { url: _, ...rest } = link
    assert.deepEqual(await caller.expect(caller.call('getConnectLink', { id: link.id })), rest)
    // Not even the database has the token.
    const rows = await sql('select l::text as line from connect_links l')
    assert(!JSON.stringify(rows).includes(tokenOf(link)))
    assert(!service.logLines.join('\n').includes(tokenOf(link)))
    await service.service.settleAudit()
    const actions = await sql('select action from audit_events where account_id = $1 order by number', accountId)
    assert.deepEqual(
      actions.map(({ action }) => action),
      ['addAccount', 'addConnectors', 'createConnectLink'],
    )
  })

  const hostile = {
    'javascript:alert(1)': 'https',
    'java\nscript:alert(1)': 'https',
    'data:text/html,x': 'https',
    'file:///etc/passwd': 'https',
    'http://shop.example.com/': 'https',
    'http://localhost.example.com/': 'https',
    '//shop.example.com': 'https',
    '/settings': 'https',
    'https://user:password@shop.example.com/': 'credentials',
    'https://user@shop.example.com/': 'credentials',
  }
  for (const [redirectUrl, reason] of Object.entries(hostile)) {
    test(`refuses to send browsers to ${JSON.stringify(redirectUrl)}`, async () => {
      const reply = await caller.call('createConnectLink', {
        body: { accountId, connectorIds: [source.id], redirectUrl },
      })
      assert.deepEqual(code(reply), [400, 'invalid_request'])
      assert.match(
        reply.details.map(({ field, message }) => `${field} ${message}`).join(),
        new RegExp(`^body.redirectUrl .*${reason}`),
      )
    })
  }

  test('takes addresses of this machine without TLS', async () => {
    for (const redirectUrl of [
      'http://localhost:3000/',
      'http://a.localhost/x',
      'http://127.0.0.1:1/',
      'http://[::1]/',
    ])
      assert.equal((await create({ redirectUrl })).redirectUrl, redirectUrl)
  })

  test('refuses what is no connector, no pair, or nothing at all', async () => {
    const refused = async (body: Partial<BodyOf<'createConnectLink'>>, expected: unknown[], field: string) => {
      const reply = await caller.call('createConnectLink', { body: { accountId, ...body } })
      assert.deepEqual(code(reply), expected, reply.text)
      assert.equal(reply.details[0]?.field, field)
    }
    await refused({}, [400, 'invalid_request'], 'body.connectorIds')
    await refused({ connectorIds: ['0123456789abcdef'] }, [400, 'invalid_request'], 'body.connectorIds.0')
    await refused(
      { connectorIds: [localFolder.id], connectionTemplate: template },
      [400, 'invalid_request'],
      'body.connectorIds.0',
    )
    const reversed = { ...template, srcConnectorId: destination.id, destConnectorId: source.id }
    await refused({ connectionTemplate: reversed }, [422, 'connectors_incompatible'], 'body.destConnectorId')
    const unknown = { ...template, srcConnectionConfig: { nothing: '1' } }
    await refused(
      { connectionTemplate: unknown },
      [400, 'invalid_request'],
      'body.connectionTemplate.srcConnectionConfig.nothing',
    )
    assert.deepEqual(await sql('select id from connect_links where account_id = $1', accountId), [])
  })

  test('needs the scopes that its page has', async () => {
    for (const missing of [...connectLinkScopes, 'connections:write'] as Scope[]) {
      const scopes = (['connect:write', ...connectLinkScopes, 'connections:write'] as Scope[]).filter(
        (one) => one !== missing,
      )
      const limited = await service.addOrganization()
      const owner = callerOf(service, limited)
      const { id } = await owner.addAccount()
      const made = await owner.expect(owner.call('createClient', { body: { name: 'Key', scopes } }))
      const { response } = await service.call('createToken', {
        body: { clientId: made.id, clientSecret: made.clientSecret },
      })
      const body = { accountId: id, connectionTemplate: template }
      const reply = await service.call('createConnectLink', { token: response.accessToken, body })
      assert.deepEqual(code(reply), [403, 'forbidden'])
      assert.match(reply.text, new RegExp(`you do not have ${missing}`))
    }
  })

  test('is refused beyond the number of links that can be used', async () => {
    const other = await service.addOrganization()
    const owner = callerOf(service, other)
    const { id } = await owner.addAccount()
    const link = await createLink(owner, id)
    await sql(
      `insert into connect_links (id, organization_id, account_id, digest, connector_ids, configuration_ids, expires_time)
       select 'filler' || n, organization_id, case when n > $3 then account_id else $4 end, n::text::bytea, connector_ids, configuration_ids,
         expires_time
       from connect_links, generate_series(2, $2::int) n where id = $1`,
      link.id,
      limits.connectLinksMax,
      limits.connectLinksMax - limits.connectLinksOfAccountMax + 2,
      (await owner.addAccount()).id,
    )
    const body = { accountId: id, connectorIds: [source.id] }
    assert.deepEqual(code(await owner.call('createConnectLink', { body })), [409, 'quota_exceeded'])
    await owner.expect(owner.call('revokeConnectLink', { id: link.id }))
    await createLink(owner, id)
    assert.deepEqual(code(await owner.call('createConnectLink', { body })), [409, 'quota_exceeded'])
    // Links of a deleted sub-account can be neither used nor revoked.
    await owner.expect(owner.call('deleteAccount', { id }))
    const { id: next } = await owner.addAccount()
    await createLink(owner, next)
  })
})

describe('the page of a link', () => {
  test('opens once, configures, and ends', async () => {
    const link = await create({ redirectUrl: 'https://shop.example.com/back?tab=1#here' })
    const before = await get(tokenOf(link))
    assert.equal(before.response.opened, false)
    assert.equal(await statusOf(link.id), 'pending')
    const token = await openLink(service, link)
    assert.equal(await statusOf(link.id), 'opened')
    unusable(await get(tokenOf(link)))
    unusable(await service.call('openConnectPage', { body: { token: tokenOf(link) }, headers: anAddress() }))
    unusable(await service.call('openConnectPage', { body: { token }, headers: anAddress() }))
    unusable(await finish(tokenOf(link)))

    const early = await finish(token)
    assert.deepEqual(code(early), [409, 'connector_not_configured'])
    assert.equal(early.details[0]?.field, `connector.${source.id}`)
    assert.equal((await configure(token)).status, 200)
    const form = await service.call('getConnectorConfiguration', { token, accountId, id: source.id })
    assert(!form.text.includes(sourceSecrets.secretAccessKey))
    assert.equal((await get(token)).response.connectors[0]?.configured, true)
    const { response } = await finish(token)
    assert.deepEqual(response, {
      id: link.id,
      status: 'completed',
      connectionId: null,
      connectionStatus: null,
      redirectUrl: `https://shop.example.com/back?tab=1&status=completed&connectLinkId=${link.id}#here`,
    })
    assert.equal(await statusOf(link.id), 'completed')
    unusable(await finish(token))
    unusable(await get(token))
    assert.equal((await configure(token)).status, 401)
    await service.service.settleAudit()
    const events = await sql(
      'select action, actor_kind, actor_id from audit_events where actor_id = $1 order by number',
      link.id,
    )
    assert.deepEqual(
      events.map(({ action, actor_kind }) => `${actor_kind} ${action}`),
      ['link openConnectPage', 'link configureConnector', 'link finishConnectPage'],
    )
  })

  test('of two who open or finish it at once, one does', async () => {
    const link = await create()
    const opened = await Promise.all(
      Array.from({ length: 8 }, () =>
        service.call('openConnectPage', { body: { token: tokenOf(link) }, headers: anAddress() }),
      ),
    )
    const [first, ...more] = opened.filter(({ status }) => status === 200)
    assert(first && more.length === 0)
    const token = first.response.accessToken
    await configure(token)
    const finished = await Promise.all(Array.from({ length: 8 }, () => finish(token)))
    assert.equal(finished.filter(({ status }) => status === 200).length, 1)
    for (const reply of finished.filter(({ status }) => status !== 200)) unusable(reply)
  })

  test('creates the connection of its template, and activates it if it is ready', async () => {
    const settings = { srcConnectionConfig: sourceSettings, destConnectionConfig: destinationSettings }
    for (const ready of [true, false]) {
      accountId = (await caller.addAccountWithSides()).id
      await caller.configureSides(accountId)
      const connectionTemplate = { ...template, ...(ready ? settings : {}), activate: true }
      const link = await create({ connectorIds: [destination.id], connectionTemplate })
      const token = await openLink(service, link)
      const { response, text } = await finish(token)
      assert.equal(response.connectionStatus, ready ? 'active' : 'In-progress', text)
      const id = response.connectionId ?? ''
      const connection = await caller.expect(caller.call('getConnection', { accountId, id }))
      assert.equal(connection.name, template.name)
      assert.equal((await caller.expect(caller.call('getConnectLink', { id: link.id }))).connectionId, id)
      const [event] = await caller.expect(caller.call('listConnectionEvents', { accountId, id }))
      assert.deepEqual([event?.actor?.kind, event?.actor?.id], ['link', link.id])
      // It configures only one side.
      assert.equal((await configure(token)).status, 401)
    }
  })

  test('is completed with an event for webhooks', async () => {
    const webhook = { url: 'https://203.0.113.7/', accountId, eventTypes: ['connect_link.completed' as const] }
    const { id: webhookId } = await caller.expect(caller.call('createWebhook', { body: webhook }))
    const link = await create()
    const token = await openLink(service, link)
    await configure(token)
    assert.equal((await finish(token)).status, 200)
    const sent = await sql(
      'select e.payload from webhook_deliveries d join events e on e.id = d.event_id where webhook_id = $1',
      webhookId,
    )
    const found = sent.map(({ payload }) => JSON.parse(payload)).map(({ type, data }) => ({ type, data }))
    assert.deepEqual(found, [
      {
        type: 'connect_link.completed',
        data: { connectLinkId: link.id, connectorIds: [source.id], connectionId: null },
      },
    ])
  })

  test('is cancelled with what was saved', async () => {
    const link = await create()
    const token = await openLink(service, link)
    await configure(token)
    assert.equal((await finish(token, 'cancelled')).response.status, 'cancelled')
    const { configured } = await caller.expect(caller.call('getConnectorConfiguration', { accountId, id: source.id }))
    assert.equal(configured, true)
    assert.equal(await statusOf(link.id), 'cancelled')
  })

  test('checks its connectors', async () => {
    await addFolder(caller, accountId, inbox.folder)
    const token = await openLink(service, await create({ connectorIds: [localFolder.id] }))
    const reply = await service.call('checkConnector', { token, accountId, id: localFolder.id })
    assert.equal(reply.response.ok, true, reply.text)
  })

  test('can call nothing else, and nothing about another connector or sub-account', async () => {
    await caller.addConnectors(accountId, destination)
    const { id: elsewhere } = await caller.addAccountWithSides()
    const link = await create()
    const token = await openLink(service, link)
    const party = {
      service,
      organization,
      caller,
      person: await addPerson(service, organization, { role: 'owner' }),
      folder: inbox.folder,
    }
    for (const id of Object.keys(operations) as OperationId[]) {
      const operation: Operation = operations[id]
      if (operation.actsIn === 'public') continue
      const call = await scenarios[id].prepare(party)
      const send = (more: object) =>
        service.send(requestOf(operation as never, { ...call, headers: {}, ...more, token } as CallOptions<never>))
      if (operation.onConnectPage) {
        if (!operation.path.includes('{id}')) continue
        const inside = { accountId }
        const expected = [[404, 'not_found']]
        assert.deepEqual([code(await send({ ...inside, id: destination.id }))], expected, id)
        if (operation.actsIn === 'account') {
          assert.deepEqual([code(await send({ accountId: elsewhere, id: source.id }))], expected, id)
        }
      } else {
        const reply = await send({})
        assert.deepEqual(code(reply), [403, 'forbidden'], `${id} ${reply.text}`)
      }
    }
  })
})

describe('a link that has ended', () => {
  const ends: Record<string, (id: string) => Promise<unknown>> = {
    expired: (id) => sql(`update connect_links set expires_time = now() where id = $1`, id),
    'was revoked': (id) => caller.expect(caller.call('revokeConnectLink', { id })),
    'is of a deleted sub-account': () => caller.expect(caller.call('deleteAccount', { id: accountId })),
  }
  for (const [name, end] of Object.entries(ends)) {
    test(`because it ${name} is refused like one that never was, before it was opened and after`, async () => {
      const link = await create()
      await configure(organization.token)
      const open = await create()
      const token = await openLink(service, open)
      await end(link.id)
      await end(open.id).catch(() => {})
      const unknown = await get(`psl_${randomBytes(32).toString('base64url')}`)
      const replies = [await get(tokenOf(link)), await get(token), await finish(token)]
      for (const reply of [unknown, ...replies]) {
        unusable(reply)
        assert.deepEqual(reply.details, [])
      }
      assert.equal((await configure(token)).status, 401)
    })
  }

  test('since its creator was revoked or removed, and while they may do less than it allows', async () => {
    const made = await caller.expect(caller.call('createClient', { body: { name: 'Key' } }))
    const credentials = { clientId: made.id, clientSecret: made.clientSecret }
    const { response } = await service.call('createToken', { body: credentials })
    const body = { accountId, connectorIds: [source.id] }
    const link = (await service.call('createConnectLink', { token: response.accessToken, body })).response
    assert.equal((await get(tokenOf(link))).status, 200)
    await caller.expect(caller.call('revokeClient', { id: made.id }))
    unusable(await get(tokenOf(link)))
    assert.equal(await statusOf(link.id), 'revoked')

    const { id: elsewhere } = await caller.addAccount()
    const person = await addPerson(service, organization, { role: 'admin' })
    const ofPerson = async () => {
      const reply = await service.call('createConnectLink', { headers: { ...person.headers }, body })
      assert.equal(reply.status, 201, reply.text)
      return reply.response
    }
    const unopened = await ofPerson()
    const opened = await ofPerson()
    const token = await openLink(service, opened)
    const change = (given: BodyOf<'updateUser'>) =>
      caller.expect(caller.call('updateUser', { id: person.id, body: given }))
    const assertWorks = async (works: boolean) => {
      const replies = [await get(tokenOf(unopened)), await get(token)]
      for (const reply of replies) works ? assert.equal(reply.status, 200, reply.text) : unusable(reply)
      assert.equal((await configure(token)).status, works ? 200 : 401)
      assert.equal(await statusOf(unopened.id), works ? 'pending' : 'revoked')
      assert.equal(await statusOf(opened.id), works ? 'opened' : 'revoked')
      if (!works) unusable(await finish(token))
    }
    await assertWorks(true)
    // An editor configures connectors, and creates no links.
    const reductions: BodyOf<'updateUser'>[] = [
      { role: 'viewer' },
      { role: 'editor' },
      { role: 'admin', accountIds: [elsewhere] },
    ]
    for (const reduced of reductions) {
      await change(reduced)
      await assertWorks(false)
      await change({ role: 'admin', accountIds: [accountId] })
      await assertWorks(true)
    }
    await change({ role: 'viewer', accountIds: null })
    // A link that could become usable again can be revoked permanently.
    assert.equal((await caller.expect(caller.call('revokeConnectLink', { id: unopened.id }))).status, 'revoked')
    await change({ role: 'owner', accountIds: null })
    unusable(await get(tokenOf(unopened)))
    assert.equal((await get(token)).status, 200)
    await caller.expect(caller.call('removeUser', { id: person.id }))
    await assertWorks(false)
  })

  test('stays as it is when it is revoked', async () => {
    const link = await create()
    await finish(await openLink(service, link), 'cancelled')
    assert.equal((await caller.expect(caller.call('revokeConnectLink', { id: link.id }))).status, 'cancelled')
  })

  test('is removed some time later', async () => {
    const link = await create()
    await sql(
      `update connect_links set expires_time = now() - make_interval(days => $2) where id = $1`,
      link.id,
      limits.connectLinkKeptDays + 1,
    )
    const kept = await create()
    assert.equal((await purge(service.database, { rejectDays: 30, ledgerDays: 400, auditDays: 0 })).connectLinks, 1)
    assert.deepEqual(code(await caller.call('getConnectLink', { id: link.id })), [404, 'not_found'])
    assert.equal(await statusOf(kept.id), 'pending')
  })
})

test('links of another organization are not found', async () => {
  const link = await create()
  const other = callerOf(service, await service.addOrganization())
  for (const operation of ['getConnectLink', 'revokeConnectLink'] as const)
    assert.deepEqual(code(await other.call(operation, { id: link.id })), [404, 'not_found'])
  assert.deepEqual(await other.expect(other.call('listConnectLinks', {})), [])
  assert.equal(await statusOf(link.id), 'pending')
})

test('credentials that are limited to a sub-account see its links alone', async () => {
  const link = await create()
  const { id: elsewhere } = await caller.addAccount()
  const other = await createLink(caller, elsewhere)
  const scopes = ['connect:read', 'connect:write'] as const
  const body = { name: 'Key', scopes: [...scopes], accountIds: [accountId] }
  const made = await caller.expect(caller.call('createClient', { body }))
  const { response } = await service.call('createToken', {
    body: { clientId: made.id, clientSecret: made.clientSecret },
  })
  const token = response.accessToken
  const listed = await service.call('listConnectLinks', { token })
  assert.deepEqual(
    listed.response.map(({ id }) => id),
    [link.id],
  )
  assert.equal((await service.call('getConnectLink', { token, id: link.id })).status, 200)
  assert.deepEqual(code(await service.call('getConnectLink', { token, id: other.id })), [404, 'not_found'])
  assert.deepEqual(code(await service.call('revokeConnectLink', { token, id: other.id })), [404, 'not_found'])
  assert.equal((await service.call('revokeConnectLink', { token, id: link.id })).response.status, 'revoked')
})

test('guesses are limited', async () => {
  const own = await startTestService({})
  try {
    const guess = () => own.call('getConnectPage', { body: { token: `psl_${randomBytes(32).toString('base64url')}` } })
    const replies = []
    for (let n = 0; n < 15; n++) replies.push(await guess())
    const limited = replies.find(({ status }) => status === 429)
    assert(limited && Number(limited.headers['retry-after']) > 0)
  } finally {
    await own.close()
  }
})

describe('branding', () => {
  const set = (body: BodyOf<'setBranding'>) => caller.call('setBranding', { body })
  const png = (width: number, height: number, bytes = 64) => {
    const begin = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex')
    begin.writeUInt32BE(width, 16)
    begin.writeUInt32BE(height, 20)
    return `data:image/png;base64,${Buffer.concat([begin, Buffer.alloc(bytes)]).toString('base64')}`
  }

  test('is what the page of a link shows', async () => {
    const allowedOrigins = ['https://shop.example.com', 'http://localhost:3000/', 'https://Shop.example.com:443']
    const colours = { primary: '#0A5C36', text: '#ffffff' }
    const reply = await set({ name: ' Acme Shop ', logo: png(10, 10), colours, allowedOrigins })
    const saved = {
      name: 'Acme Shop',
      logo: png(10, 10),
      colours: { primary: '#0a5c36', text: '#ffffff' },
      allowedOrigins: ['https://shop.example.com', 'http://localhost:3000'],
    }
    assert.deepEqual(reply.response, saved)
    const page = (await get(tokenOf(await create()))).response
    assert.deepEqual(
      [page.organizationName, page.logo, page.colours, page.allowedOrigins],
      [saved.name, saved.logo, saved.colours, saved.allowedOrigins],
    )
    assert.deepEqual((await set({})).response, { name: null, logo: null, colours: null, allowedOrigins: [] })
    await service.service.settleAudit()
    const [event] = await sql(
      `select before from audit_events where action = 'setBranding' order by number desc limit 1`,
    )
    assert(!JSON.stringify(event).includes('iVBOR'), 'the log keeps no pictures')
  })

  test('refuses colours that are hard to read, and says which can be read', async () => {
    for (const [primary, text, better] of [
      ['#ffff00', '#ffffff', '#000000'],
      ['#777777', '#888888', '#000000'],
      ['#000080', '#101010', '#ffffff'],
      // Just below the bound: 4.48.
      ['#777777', '#ffffff', '#000000'],
    ] as const) {
      const reply = await set({ colours: { primary, text } })
      assert.deepEqual([reply.status, reply.details[0]?.field], [400, 'body.colours.text'])
      assert(reply.details[0]?.message.endsWith(`${better} can be read`), reply.text)
    }
    // Without a colour of the text, it is one that can be read, whatever the other one is.
    for (const primary of ['#ffff00', '#777777', '#757575', '#000080', '#ff0000']) {
      const { response } = await set({ colours: { primary } })
      const text = response.colours?.text ?? ''
      assert.equal(text, ['#000080', '#757575'].includes(primary) ? '#ffffff' : '#000000')
      assert.equal((await set({ colours: { primary, text } })).status, 200)
    }
    // Just above it: 4.54.
    assert.equal((await set({ colours: { primary: '#767676', text: '#ffffff' } })).status, 200)
  })

  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`
  const logos: Record<string, string> = {
    'an SVG': `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
    'an SVG that says it is a PNG': `data:image/png;base64,${Buffer.from(svg).toString('base64')}`,
    'a page': 'data:text/html,<script>alert(1)</script>',
    'an address': 'https://shop.example.com/logo.png',
    'a script': 'javascript:alert(1)',
    'too many pixels': png(20_000, 10),
    'too many bytes': png(10, 10, limits.logoBytesMax),
    'what breaks out of an attribute': `${png(10, 10)}" onerror="alert(1)`,
  }
  for (const [name, logo] of Object.entries(logos)) {
    test(`refuses a logo that is ${name}`, async () => {
      const reply = await set({ logo })
      assert.deepEqual([reply.status, reply.details[0]?.field], [400, 'body.logo'], reply.text)
    })
  }

  for (const origin of [
    '*',
    'https://*.example.com',
    'null',
    "'self'",
    'https:',
    'http://shop.example.com',
    'javascript:alert(1)',
    'https://shop.example.com/path',
    'https://shop.example.com?x',
    'https://user@shop.example.com',
    'https://a.example.com https://b.example.com',
    "https://a.example.com; script-src 'unsafe-inline'",
    'https://a.example.com,https://b.example.com',
    'https://a.example.com\r\nx-injected: 1',
  ]) {
    test(`refuses ${JSON.stringify(origin)} as an origin`, async () => {
      const reply = await set({ allowedOrigins: ['https://shop.example.com', origin] })
      assert.deepEqual([reply.status, reply.details[0]?.field], [400, 'body.allowedOrigins.1'], reply.text)
    })
  }

  test('decides which sites may show the page of a link in a frame; nothing else may be framed', async () => {
    const link = await create()
    const policyOf = async (path: string) => {
      const { headers } = await service.send({ method: 'GET', path })
      return /frame-ancestors ([^;]+)/.exec(headers['content-security-policy'] ?? '')?.[1]
    }
    await set({})
    assert.equal(await policyOf(`/connect/${link.id}`), "'none'")
    await set({ allowedOrigins: ['https://shop.example.com', 'http://a.localhost:3000'] })
    assert.equal(await policyOf(`/connect/${link.id}`), 'https://shop.example.com http://a.localhost:3000')
    assert.equal(await policyOf('/connect/0123456789abcdef'), "'none'")
    assert.equal(await policyOf('/connect/%27%3B'), "'none'")
    for (const path of ['/', '/accounts', '/docs', '/es/v2/accounts', '/connect.js'])
      assert.equal(await policyOf(path), "'none'", path)
    await set({})
  })
})

test('a connector that cannot be changed here gets no link', async () => {
  await caller.addConnectors(accountId, source)
  await sql(
    `insert into environments (name, id, host) values ('elsewhere', '0123456789abcdef', 'x') on conflict do nothing`,
  )
  await sql(`update added_connectors set env = 'elsewhere' where account_id = $1`, accountId)
  const reply = await caller.call('createConnectLink', { body: { accountId, connectorIds: [source.id] } })
  assert.deepEqual(code(reply), [409, 'not_editable'])
  assert(connectorBySlug)
})
