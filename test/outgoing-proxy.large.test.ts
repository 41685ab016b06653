import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { ConfigError, readConfig } from '../packages/server/src/config.ts'
import { describeEgress } from '../packages/server/src/egress-settings.ts'
import { createOutgoing } from '../packages/server/src/outgoing/outgoing.ts'
import { callerOf, connectorBySlug } from './harness/fixtures.ts'
import { startReceiver } from './harness/receiver.ts'
import { startTestService } from './harness/service.ts'

/** The proxy of a deployment is used by runners and by the service itself. */

type Env = Record<string, string>

/** A proxy that forwards requests, with the credentials of a setting. */
async function startProxy() {
  const asked: string[] = []
  const server = net.createServer((near) => {
    near.on('error', () => {})
    near.once('data', (bytes) => {
      const [, host = '', port = ''] = /^CONNECT ([\d.]+):(\d+) HTTP\/1\.1\r\n/.exec(String(bytes)) ?? []
      const credentials = /Proxy-Authorization: Basic (\S+)/.exec(String(bytes))?.[1] ?? ''
      asked.push(`${host}:${port} ${atob(credentials)}`)
      const far = net.connect(Number(port), host)
      far.on('error', () => near.destroy())
      far.once('connect', () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n')
        near.pipe(far).pipe(near)
      })
      near.on('close', () => far.destroy())
    })
    after(() => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return { asked, url: `http://ada:canary@127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('PENSTOCK_OUTGOING_PROXY is shown without its password, and refused where it is no address of a proxy', () => {
  const env = {
    PENSTOCK_OUTGOING_PROXY: 'socks5://ada:canary@proxy.internal',
    PENSTOCK_OUTGOING_PROXY_EXCEPT: '127.0.0.1, db.internal',
  }
  assert.match(
    describeEgress(readConfig(env).egress),
    / They connect through the proxy socks5:\/\/proxy\.internal:1080, except to 127\.0\.0\.1, db\.internal\.$/,
  )
  for (const wrong of ['proxy.internal:3128', 'ftp://canary@proxy', 'http://canary@proxy/path']) {
    assert.throws(
      () => readConfig({ PENSTOCK_OUTGOING_PROXY: wrong }),
      (error) =>
        error instanceof ConfigError &&
        /^PENSTOCK_OUTGOING_PROXY must be the address of a proxy/.test(error.message) &&
        !error.message.includes('canary'),
    )
  }
})

test('a check of a connector goes through the proxy, unless the destination is an exception', async (t) => {
  const postgresql = connectorBySlug('postgresql')
  const { asked, url } = await startProxy()
  const check = async (env: Env) => {
    const service = await startTestService({ PENSTOCK_OUTGOING_PROXY: url, ...env })
    t.after(service.close)
    const caller = callerOf(service, await service.addOrganization())
    const { id: accountId } = await caller.addAccount()
    await caller.addConnectors(accountId, postgresql)
    const { hostname, port, pathname, username, password } = new URL(service.databaseUrl)
    const signIn = { database: pathname.slice(1), user: decodeURIComponent(username), password: password || 'none' }
    const secretConfig = { ...signIn, host: hostname, port, tlsMode: 'disable' }
    await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
    const { checks } = await caller.expect(caller.call('checkConnector', { accountId, id: postgresql.id }))
    assert.equal(checks[0]?.ok, true, checks[0]?.message)
    return port
  }
  const port = await check({})
  assert.equal(asked[0], `127.0.0.1:${port} ada:canary`)
  const before = asked.length
  await check({ PENSTOCK_OUTGOING_PROXY_EXCEPT: '127.0.0.1' })
  assert.equal(asked.length, before)
})

test('a webhook goes through the proxy', async (t) => {
  const { asked, url } = await startProxy()
  const receiver = await startReceiver(t)
  const outgoing = createOutgoing(readConfig({ PENSTOCK_OUTGOING_PROXY: url }))
  after(() => outgoing.close())
  const { status } = await outgoing.post(receiver.url, { body: '{}', contentType: 'application/json' })
  assert.equal(status, 200)
  assert.deepEqual(asked, [`${new URL(receiver.url).host} ada:canary`])
})
