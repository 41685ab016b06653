import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Connector, ConnectorContext, Destination, DestinationContext } from '@penstock/connector'
import { loadConnector } from '@penstock/connectors/load'
import { googleTokens } from '../packages/connectors/src/google-ads/access.ts'
import { openMicrosoftTokens } from '../packages/connectors/src/microsoft-advertising/microsoft-api.ts'
import { createAuthorizationFlow } from '../packages/server/src/authorizations/flow.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { removeOAuthApp } from '../packages/server/src/secrets/oauth-apps.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { createInteractiveJobs } from '../packages/server/src/transfers/interactive.ts'
import { JobHost } from '../packages/server/src/transfers/job-host.ts'
import { openSide } from '../packages/server/src/transfers/sides.ts'
import { Claims } from '../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../packages/server/src/transfers/supervisor/work.ts'
import { firstConfiguration, firstSide } from './harness/configurations.ts'
import { addFolder, inboxFile, localFolder, makeInbox } from './harness/connections.ts'
import { consent, openBrowser, startConsentServer, startSpokenServer } from './harness/consenting.ts'
import { engineOf } from './harness/engine-of.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { appOfTests, authorizable, registerApp } from './harness/oauth-apps.ts'
import { startRotatingTokens } from './harness/rotating-tokens.ts'
import { noSecretManagers } from './harness/secret-managers.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { noLimits } from './harness/supervision.ts'

/** Connectors that were authorized with a click: transfers, revoked grants, renewed tokens. */

const microsoft = connectorBySlug('microsoft-ads-events')
const platform = await startConsentServer()
const spoken = await startSpokenServer()
const routes = {
  'https://oauth2.googleapis.com': platform.url,
  'https://login.microsoftonline.com': spoken.url,
}
const inbox = await makeInbox()
/** Implementation of `deliver` in the destination of the tests. */
let deliverWith: (context: DestinationContext) => Promise<unknown> = async () => {}
const deliver: Destination = {
  batch: () => ({ rowsMax: 10, bytesMax: 1 << 20 }),
  open: async (context) => ({
    deliver: async ({ rows }) => {
      await deliverWith(context)
      return { bytes: rows.length }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }),
}
/** The connectors of the catalogue. Google's connector delivers as a test says. */
const load = async (slug: string): Promise<Connector> => {
  const connector = await loadConnector(slug)
  if (slug !== authorizable.slug) return connector
  const { records: _, ...destination } = connector.destination ?? {}
  return { ...connector, destination: { ...destination, deliver } }
}
const runners = createInProcessRunners({ localFolders: [inbox.folder], loadConnector: load }, routes)
let service: TestService
let caller: Caller
let accountId: string
before(async () => {
  service = await startTestService(inbox.env, {}, runners)
  caller = callerOf(service, await service.addOrganization())
  accountId = (await caller.addAccount()).id
  await addFolder(caller, accountId, inbox.folder)
  for (const connector of [authorizable, microsoft]) {
    await caller.addConnectors(accountId, connector)
    await registerApp(service, connector)
  }
})
after(async () => {
  await service.close()
  await platform.close()
  await spoken.close()
  await inbox.remove()
})

const start = async ({ id }: Connector) =>
  (await caller.expect(caller.call('authorizeConnector', { accountId, id }))).url
const owner = ({ id: connectorId }: Connector) => firstConfiguration(service.database, { accountId, connectorId })
const authorize = async () => {
  const browser = openBrowser(service)
  const reply = await browser.get(await consent(platform, await browser.open(await start(authorizable))))
  assert.equal(reply.status, 200, reply.text)
}
const activate = (id: string) =>
  caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
const connect = async () => {
  const body = {
    name: 'Customers',
    srcConnectorId: localFolder.id,
    destConnectorId: authorizable.id,
    srcConnectionConfig: { files: inboxFile },
    destConnectionConfig: required,
  }
  const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
  await activate(id)
  return id
}
/** Required settings of a connection of the connector. */
const required = Object.fromEntries(
  Object.entries(authorizable.destination?.fields ?? {}).flatMap(([key, field]) =>
    field.required ? [[key, field.options?.[0] ?? field.min ?? '1234567890']] : [],
  ),
)
const move = async (id: string) => {
  const { id: transferId } = await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
  const log = createLogger('info', { write: (line) => void service.logLines.push(line) })
  await workOnTransfers(engineOf(service), new Claims(noLimits), log, new AbortController().signal)
  return caller.expect(caller.call('getTransfer', { accountId, id, transferId }))
}
const statusOf = async (id: string) => (await caller.expect(caller.call('getConnection', { accountId, id }))).status

describe('a connector that was authorized', () => {
  const scope = authorizable.authorization?.scopes[0] ?? ''
  const useToken = (context: ConnectorContext) => googleTokens(context, scope).token()

  test('moves data with the client of the app, until the grant is revoked, and again once it is renewed', async () => {
    await authorize()
    const id = await connect()
    deliverWith = useToken
    const moved = await move(id)
    assert.deepEqual([moved.status, moved.error], ['succeeded', null])
    const { form } = platform.asked.at(-1) ?? assert.fail()
    assert.equal(form.grant_type, 'refresh_token')
    assert.deepEqual([form.client_id, form.client_secret], [appOfTests.clientId, appOfTests.clientSecret])

    platform.change((response) => Object.assign(response, { body: { error: 'invalid_grant' }, statusCode: 400 }))
    const revoked = await move(id)
    assert.equal(revoked.error?.code, 'invalid_credentials')
    assert.match(revoked.error?.message ?? '', /authorize the connector again/i)
    assert.equal(await statusOf(id), 'broken')
    const attention = await caller.expect(caller.call('listAttention', { accountId }))
    assert(attention.some(({ reasons }) => reasons.includes('broken')))
    const { authorization } = await caller.expect(caller.call('getConnectorDefinition', { id: authorizable.id }))
    assert.deepEqual(authorization, {
      platform: 'Google',
      scopes: [scope],
      fields: ['clientId', 'clientSecret', 'refreshToken'],
    })

    await authorize()
    // As after configuring it: a person activates the connection.
    assert.equal(await statusOf(id), 'broken')
    await activate(id)
    assert.equal((await move(id)).status, 'succeeded')
  })

  test('repeats no secret of the operator, whatever a destination says', async () => {
    await authorize()
    const id = await connect()
    deliverWith = async ({ secrets }) => {
      const { ConnectorError } = await import('@penstock/connector')
      throw new ConnectorError('request_refused', `You sent ${secrets.clientSecret} with ${secrets.refreshToken}.`)
    }
    const { error } = await move(id)
    assert.equal(error?.message, 'You sent [redacted] with [redacted].')
  })

  test('says who must do what once the app is removed or replaced', async () => {
    await authorize()
    const id = await connect()
    deliverWith = useToken
    await registerApp(service, authorizable, { clientId: 'another-app', clientSecret: 'canary-of-another' })
    const replaced = await move(id)
    assert.equal(replaced.error?.code, 'invalid_credentials')
    assert.equal(replaced.error?.side, 'destination')
    assert.match(replaced.error?.message ?? '', /another app at Google.*Authorize the connector again/)
    assert.equal(await statusOf(id), 'broken')
    await removeOAuthApp(service.database, { env: service.config.environment.name, slug: 'google' })
    await activate(id)
    assert.match((await move(id)).error?.message ?? '', /removed the app at Google.*Ask your operator/)
    // When the same app returns, its grants are still there.
    await registerApp(service, authorizable)
    await activate(id)
    assert.equal((await move(id)).status, 'succeeded')
  })
})

test('two workers at once renew what was granted one after the other', async () => {
  const rotating = await startRotatingTokens()
  try {
    spoken.say({
      status: 200,
      body: JSON.stringify({ access_token: 'a', token_type: 'Bearer', refresh_token: rotating.signIn() }),
    })
    const browser = openBrowser(service)
    const address = await browser.open(await start(microsoft))
    const state = address.searchParams.get('state')
    assert.equal((await browser.get(`/oauth/callback?code=any&state=${state}`)).status, 200)
    const { database } = service
    const { keyring } = service.service.deps
    const saved = async () => (await openSecrets(database, keyring, await owner(microsoft))).refreshToken
    assert.equal(await saved(), rotating.current)

    const check = async (context: ConnectorContext) => {
      const tokens = openMicrosoftTokens(context)
      let token = ''
      for (let renewed = 0; renewed < 4; renewed++) token = await tokens.token(token)
      return [{ name: 'authentication', ok: true, message: 'Four tokens.' }] as const
    }
    const work = async () => {
      const loadConnector = async () => ({ ...microsoft, check })
      const origins = { 'https://login.microsoftonline.com': new URL(rotating.url).origin }
      const jobs = createInteractiveJobs(createInProcessRunners({ localFolders: [], loadConnector }, origins), {
        atOnce: 1,
        perOrganization: 1,
      })
      const side = await firstSide(database, microsoft, accountId)
      const connector = await openSide({ database, keyring, secretManagers: noSecretManagers }, side, { job: 'check' })
      assert.deepEqual(connector.secrets.clientSecret, appOfTests.clientSecret)
      const job = { kind: 'check', connector, deadlineMs: 60_000 } as const
      const secrets = new JobHost({ database, keyring }, [side])
      return jobs.run(job, { organizationId: 'any', id: accountId }, new AbortController().signal, secrets)
    }
    const results = await Promise.all([work(), work()])
    assert(results.every(({ ok }) => ok))
    // No token came twice: the server would have revoked them all.
    assert.equal(rotating.exchanges, 8)
    assert.equal(await saved(), rotating.current)
    assert.match(String(rotating.current), /-8$/)
  } finally {
    await rotating.close()
  }
})

test('what a platform answers that is no answer becomes a page', async () => {
  const answers: Parameters<typeof spoken.say>[0][] = [
    { status: 200, body: '<html>canary</html>' },
    { status: 200, body: '[]' },
    { status: 200, body: '{"access_token":{},"refresh_token":7}' },
    { status: 302, body: '', headers: { location: 'https://attacker.example/' } },
    { status: 429, body: '', headers: { 'retry-after': '3600' } },
    { status: 503, body: 'canary' },
  ]
  for (const answer of answers) {
    spoken.say(answer)
    const browser = openBrowser(service)
    const state = (await browser.open(await start(microsoft))).searchParams.get('state')
    const reply = await browser.get(`/oauth/callback?code=any&state=${state}`)
    assert.equal(reply.status, 422, JSON.stringify(answer))
    assert.match(reply.text, /Nothing was changed/)
    assert(!reply.text.includes('canary') && !reply.text.includes('attacker'))
  }
})

test('an answer that never comes, or whose service dies meanwhile, leaves nothing but a state that was used', async () => {
  spoken.say(undefined)
  const browser = openBrowser(service)
  const state = (await browser.open(await start(microsoft))).searchParams.get('state')
  const before = await openSecrets(service.database, service.service.deps.keyring, await owner(microsoft))
  const flow = createAuthorizationFlow({
    ...service.service.deps,
    database: service.database,
    isLinkOpen: async () => true,
  })
  const leaving = new AbortController()
  const answer = { state, code: 'any', error: undefined, iss: undefined }
  const [cookie] = browser.cookies.values()
  const asked = spoken.asked()
  const finished = flow.finish(answer, cookie, leaving.signal)
  await asked
  // As when the browser is closed, or the process ends: the code has gone to the platform, and nothing is saved.
  leaving.abort()
  const page = await finished
  assert.equal(page.status, 422)
  assert.match(page.message, /did not answer/)
  assert.equal((await browser.get(`/oauth/callback?code=any&state=${state}`)).status, 400)
  assert.deepEqual(await openSecrets(service.database, service.service.deps.keyring, await owner(microsoft)), before)
})
