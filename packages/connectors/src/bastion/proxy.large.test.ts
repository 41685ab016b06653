import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { createEgress, parseProxy } from '@penstock/connector/egress'
import { parseAllowed } from '@penstock/connector/egress/allowed'
import { findProgram, type ProgramName, skipWithout } from '../../../../test/harness/programs.ts'
import { until } from '../../../../test/harness/until.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../test/tables.ts'
import { mysql } from '../mysql/mysql.ts'
import { postgresql } from '../postgresql/postgresql.ts'
import { reach } from './reach.ts'

/** Connections through real proxies. */

const directory = await mkdtemp(join(tmpdir(), 'penstock-proxies-'))
after(() => rm(directory, { recursive: true, force: true }))
const database = await startPostgresql()
after(() => database.close())
const mariadb = await startMariadb()
if (mariadb) after(() => mariadb.stop())
await database.query(`create table crm.people as select i as id from generate_series(1, 20000) i`)

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })

/** Starts a proxy with the user ada and the password canary. Resolves with its port, or 0 if the proxy is not installed. */
async function start(name: ProgramName, argumentsFor: (port: number) => Promise<string[]>): Promise<number> {
  const program = findProgram(name)
  if (!program) return 0
  const port = await freePort()
  const proxy: ChildProcess = spawn(program, await argumentsFor(port), { stdio: 'ignore' })
  after(() => proxy.kill('SIGKILL'))
  await until(`${name} listens`, () => answers(port))
  return port
}

const log = join(directory, 'tinyproxy.log')
const httpPort = await start('tinyproxy', async (port) => {
  const file = join(directory, 'tinyproxy.conf')
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'Allow 127.0.0.1', 'BasicAuth ada canary', `LogFile "${log}"`]
  await writeFile(file, [...lines, 'LogLevel Connect', 'Timeout 60', ''].join('\n'))
  return ['-d', '-c', file]
})
const socksPort = await start('microsocks', async (port) =>
  ['-i', '127.0.0.1', '-p', port, '-u', 'ada', '-P', 'canary'].map(String),
)

for (const [program, scheme, port] of [
  ['tinyproxy', 'http', httpPort],
  ['microsocks', 'socks5', socksPort],
] as const) {
  describe(`a proxy (${program})`, { skip: skipWithout(program) }, () => {
    const proxy = parseProxy(`${scheme}://ada:canary@127.0.0.1:${port}`)
    const egressWith = (options: Partial<Parameters<typeof createEgress>[0]> = {}) => {
      const egress = createEgress({ networkPolicy: 'any', proxy, ...options })
      after(() => egress.close())
      return egress
    }
    const settings = { schema: 'crm', table: 'people' }

    test('of the deployment leads to databases', async () => {
      const egress = egressWith()
      const rows = await readAll(postgresql, { secrets: database.secrets, settings, egress })
      assert.equal(rowsOf(rows).length, 20_000)
      if (!mariadb) return
      const ca = await readFile(new URL('../../test/certificates/ca.pem', import.meta.url), 'utf8')
      const secrets = { ...mariadb.secrets, host: 'localhost', tlsMode: 'verify-full', caCertificate: ca }
      for (const step of (await mysql.check?.(testContext({ secrets, egress }))) ?? []) assert.ok(step.ok, step.message)
    })

    test('of the deployment leads to HTTP, and keeps connections', async () => {
      const sockets = new Set<unknown>()
      const server = http.createServer(({ socket }, response) => {
        sockets.add(socket)
        response.end('inside')
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      after(() => server.close())
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      const egress = egressWith()
      for (let time = 0; time < 3; time++) assert.equal(await (await egress.request(url)).text(), 'inside')
      assert.equal(sockets.size, 1)
      const open = egressWith({ networkPolicy: 'public' })
      assert.deepEqual(await connectorErrorOf(open.request(url)), ['reconfigure', 'address_not_allowed'])
    })

    test('says what it cannot reach, and that it denies access', async () => {
      assert.deepEqual(await connectorErrorOf(egressWith().connect('127.0.0.1', 1)), ['reconnect', 'unreachable'])
      const wrong = proxy && { ...proxy, password: 'wrong' }
      const refused = egressWith({ proxy: wrong }).connect('127.0.0.1', database.port)
      assert.equal((await connectorErrorOf(refused))[1], 'invalid_credentials')
    })

    test('of a configuration leads to its server, under the network policy', async () => {
      const proxied: Values = {
        ...database.secrets,
        connectThrough: 'proxy',
        proxyAddress: `${scheme}://127.0.0.1:${port}`,
        proxyUser: 'ada',
        proxyPassword: 'canary',
      }
      const failed = async (secrets: Values, options: Partial<Parameters<typeof createEgress>[0]> = {}) => {
        const egress = createEgress({ networkPolicy: 'any', ...options })
        after(() => egress.close())
        const context = testContext({ secrets, egress: reach(egress, postgresql, secrets) })
        return (await postgresql.check?.(context))?.find(({ ok }) => !ok)
      }
      assert.equal((await failed(proxied))?.message, undefined)
      const denied = await failed({ ...proxied, proxyPassword: 'canary-wrong' })
      assert.equal(denied?.code, 'invalid_credentials')
      assert.doesNotMatch(denied?.message ?? '', /canary/)
      const [ofProxy, ofServer] = [`127.0.0.1:${port}`, `127.0.0.1:${database.port}`]
      const within = async (...texts: string[]) => {
        const allow = texts.map((text) => parseAllowed(text) ?? assert.fail(text))
        return (await failed(proxied, { networkPolicy: 'public', allow }))?.code
      }
      assert.equal(await within(ofProxy, ofServer), undefined)
      assert.equal(await within(ofProxy), 'address_not_allowed')
      assert.equal(await within(ofServer), 'address_not_allowed')
    })
  })
}
