import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../packages/server/src/config.ts'
import { createCatalogue } from '../packages/server/src/connectors/catalogue.ts'
import { installedConnectors } from '../packages/server/src/connectors/definitions.ts'
import { addPackage } from '../packages/server/src/connectors/packages/add-package.ts'
import { localFolder } from './harness/connections.ts'
import { prepareStage, type Stage, tokenOf } from './harness/process.ts'
import { until } from './harness/until.ts'

/** Packages with connectors that an operator adds: refused packages, added packages, and machines that lack one. */

let base: string
let folder: string
before(async () => {
  base = await mkdtemp(join(tmpdir(), 'penstock-packages-'))
  await chmod(base, 0o755)
  folder = join(base, 'connectors')
})
after(() => rm(base, { recursive: true, force: true }))

const configOf = () => readConfig({ PENSTOCK_CONNECTORS_DIR: folder, PENSTOCK_DATA_DIR: join(base, 'data') })

type Written = { slug?: string; name?: string; before?: string; facts?: string; manifest?: object }

/** Writes a package whose definition is valid except for the given parts. */
async function writePackage({
  slug = 'acme-test',
  name = 'Acme Test',
  before: first = '',
  facts = '',
  manifest = {},
}: Written = {}) {
  const directory = await mkdtemp(join(base, 'package-'))
  const about = { name: `package-of-${slug}`, version: '1.0.0', type: 'module', exports: './index.js' }
  const all = { ...about, peerDependencies: { '@penstock/connector': '^0.1.0' }, ...manifest }
  await writeFile(join(directory, 'package.json'), JSON.stringify(all))
  await writeFile(
    join(directory, 'index.js'),
    `import { defineConnector, definePlatform } from '@penstock/connector'
${first}
export const connector = defineConnector({
  slug: '${slug}', name: '${name}', description: 'A test.', dataType: 'data store', dataTypeCategory: 'data store',
  platform: definePlatform({ slug: 'acme', name: 'Acme', type: 'Data Provider' }), secrets: {},
  source: { open: async () => { throw new Error('not opened') } }, ${facts}
})`,
  )
  return directory
}

describe('a package is refused with words, and nothing of it stays', () => {
  const cases: readonly [string, Written, RegExp][] = [
    [
      'for another kit',
      { manifest: { peerDependencies: { '@penstock/connector': '^9.0.0' } } },
      /written for @penstock\/connector \^9\.0\.0/,
    ],
    ['without a kit', { manifest: { peerDependencies: {} } }, /does not say which version/],
    ['whose slug is taken', { slug: 'webhook' }, /the catalogue has a connector webhook already/],
    ['whose name is taken', { name: 'Webhook' }, /the catalogue has a connector with the name Webhook already/],
    ['with a definition that the kit refuses', { facts: 'secrets: { password: { type: "Text" } }' }, /sounds secret/],
    ['with a definition of wrong types', { facts: 'description: 7' }, /description must be a text/],
    ['that uses the network as it is loaded', { before: 'fetch("http://127.0.0.1:1")' }, /uses fetch as it is loaded/],
    ['that imports the network', { before: 'import "node:net"' }, /uses node:net as it is loaded/],
    [
      'that starts a process',
      { before: 'import { execSync } from "child_process"; execSync("true")' },
      /node:child_process/,
    ],
    [
      'that reads files of others',
      { before: 'import { readFileSync } from "node:fs"; readFileSync("/etc/passwd")' },
      /restricted/,
    ],
    ['that ends its process', { before: 'process.exit(0)' }, /its process ended/],
    [
      'that exports nothing',
      { before: 'export {}', manifest: { exports: './package.json' } },
      /cannot be loaded|exports no connector/,
    ],
    ['that is authorized with a click', { facts: 'readsUploads: true' }, /only connectors of the catalogue/],
  ]
  for (const [title, written, message] of cases) {
    test(title, async () => {
      await assert.rejects(addPackage(configOf(), await writePackage(written)), message)
      assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], [])
    })
  }

  test('that is not there', async () => {
    await assert.rejects(addPackage(configOf(), './no-such-package.tgz'), /The file or directory .* does not exist/)
    await assert.rejects(addPackage(configOf(), base), /has no package\.json/)
  })
})

test('a tarball is installed without its scripts, and its next version replaces it', async () => {
  const script = join(base, 'script-ran')
  const manifest = { scripts: { install: `touch ${script}`, postinstall: `touch ${script}` } }
  const pack = async (version: string) => {
    const directory = await writePackage({ manifest: { ...manifest, version } })
    const file = execFileSync('npm', ['pack', '--silent', '--ignore-scripts'], { cwd: directory, encoding: 'utf8' })
    return join(directory, file.trim())
  }
  const first = await addPackage(configOf(), await pack('1.0.0'))
  assert.equal(first.replaced, undefined)
  const second = await addPackage(configOf(), await pack('1.1.0'))
  assert.equal(second.replaced, '1.0.0')
  assert.equal(existsSync(script), false)
  assert.deepEqual(readdirSync(folder), ['acme-test'])
  const installed = installedConnectors(configOf())
  assert.deepEqual(installed.problems, [])
  const catalogue = createCatalogue(
    'http://localhost',
    installed.connectors.map(({ connector }) => connector),
  )
  assert.match(
    catalogue.known(first.id).tested ?? '',
    /your operator added this connector \(package-of-acme-test 1\.1\.0\)/,
  )
  await assert.rejects(
    addPackage(configOf(), await writePackage({ manifest: { name: 'of-another' } })),
    /the catalogue has a connector acme-test already/,
  )
  await writeFile(join(folder, 'acme-test/connector.json'), '{')
  assert.match(
    installedConnectors(configOf()).problems.join(),
    /acme-test cannot be used: its connector.json is not JSON/,
  )
})

test('a machine that lacks a connector of the database says so, and starts for all others', async (t) => {
  const stage = await prepareStage(t)
  const own = join(stage.base, 'connectors')
  const env = { PENSTOCK_CONNECTORS_DIR: own }
  const added = await stage.penstock(
    ['connector', 'add', await writePackage({ slug: 'acme-lost', name: 'Acme Lost' })],
    { env },
  )
  assert.equal(added.code, 0, added.stderr)
  const service = await stage.serve({ env })
  const without = { env: { PENSTOCK_CONNECTORS_DIR: join(stage.base, 'none') } }
  await mkdir(join(stage.base, 'none'))
  // It has no folder.
  const older = await stage.serve(without)
  const token = await tokenOf(service, stage.dataDirectory)
  const call = async (path: string, body?: object, { url } = service) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    const answer = await fetch(`${url}${path}`, init)
    return { status: answer.status, body: await answer.text() }
  }
  const account = JSON.parse((await call('/es/v2/accounts', { name: 'Acme' })).body).response.id
  const [{ connectorId }] = JSON.parse((await stage.penstock(['connector', 'list', '--json'], { env })).stdout)
  const add = await call(`/es/v2/connectors?accountId=${account}`, { connectorIds: [connectorId] })
  assert(add.status < 300, add.body)
  assert.equal((await call('/docs/connectors/acme-lost')).status, 200)
  const answer = await call(`/es/v2/connectors/added?accountId=${account}`, undefined, older)
  assert.equal(answer.status, 200, answer.body)
  assert.match(answer.body, new RegExp(connectorId))
  const refused = await stage.penstock(['connector', 'remove', 'acme-lost'], { env })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /is in use \(accounts: 1, connections: 0\)/)
  const refusedWithout = await stage.penstock(['connector', 'remove', 'acme-lost'], without)
  assert.match(refusedWithout.stderr, /is in use \(accounts: 1, connections: 0\)/)
  const examined = await stage.penstock(['doctor'], without)
  assert.match(
    examined.stdout,
    new RegExp(`FAIL  connectors  .*acme-lost, ${connectorId}.*none/acme-lost.*penstock connector add`),
  )
  const worker = stage.start('penstock', ['worker'], without)
  await until('the worker works', () => worker.hasEnded || worker.said.stderr.includes('"working"'))
  assert.match(worker.said.stderr, new RegExp(`${connectorId}.*penstock connector add`))
  worker.signal('SIGTERM')
  assert.equal((await worker.ended).code, 0)
  const fresh = await stage.serve(without)
  assert.equal((await call('/es/v2/accounts', undefined, fresh)).status, 200)
  assert.match(fresh.said.stderr, new RegExp(`${connectorId}.*PENSTOCK_CONNECTORS_DIR`))
})

/** Adds the last added connector, and a local folder, to a new account. `connect` creates an active connection of both. */
async function connectAdded(stage: Stage, url: string, env: Record<string, string>, out: string) {
  const token = await tokenOf({ url }, stage.dataDirectory)
  const call = async (path: string, body?: object, method = body ? 'POST' : 'GET') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}/es/v2${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const { response } = JSON.parse(await answer.text())
    assert(answer.status < 300, JSON.stringify(response))
    return response
  }
  const account = (await call('/accounts', { name: 'Acme' })).id
  const inAccount = `accountId=${account}`
  const [{ connectorId }] = JSON.parse((await stage.penstock(['connector', 'list', '--json'], { env })).stdout)
  await call(`/connectors?${inAccount}`, { connectorIds: [connectorId, localFolder.id] })
  await call(`/connectors/${localFolder.id}/configuration?${inAccount}`, { secretConfig: { folder: out } }, 'PUT')
  const connect = async (name: string): Promise<string> => {
    const { id } = await call(`/connections?${inAccount}`, {
      name,
      srcConnectorId: connectorId,
      destConnectorId: localFolder.id,
      srcConnectionConfig: {},
      destConnectionConfig: {},
    })
    await call(`/connections/${id}/status?${inAccount}`, { action: 'activate' }, 'PUT')
    return id
  }
  return { call, inAccount, connect }
}

test('the next transfer runs the version that replaced another one, without a restart', async (t) => {
  const stage = await prepareStage(t)
  const own = join(stage.base, 'connectors')
  const out = join(stage.base, 'out')
  await mkdir(out, { mode: 0o777 })
  await chmod(out, 0o777)
  const env = { PENSTOCK_CONNECTORS_DIR: own, PENSTOCK_LOCAL_FOLDERS: out }
  const add = async (version: string) => {
    const facts = `source: { open: async () => ({ close: async () => {}, async *read(after) {
      if (after === undefined) yield { columns: ['version'], rows: [['${version}']], bytes: 2, checkpoint: 1 }
    } }) }, `
    const from = await writePackage({ slug: 'acme-next', name: 'Acme Next', facts, manifest: { version } })
    const { code, stdout, stderr } = await stage.penstock(['connector', 'add', from], { env })
    assert.equal(code, 0, stderr)
    return stdout
  }
  await add('1.0.0')
  const { url } = await stage.serve({ env })
  const { call, inAccount, connect } = await connectAdded(stage, url, env, out)
  const id = await connect('Next')
  const move = async () => {
    const started = await call(`/connections/${id}/transfers?${inAccount}`, {})
    await until('the transfer has ended', async () => {
      const now = await call(`/connections/${id}/transfers/${started.id}?${inAccount}`)
      return now.status !== 'queued' && now.status !== 'running'
    })
    const texts = readdirSync(out).map((name) => readFileSync(join(out, name), 'utf8'))
    return [...texts.join('').matchAll(/\d\.\d\.\d/g)].map(([version]) => version).sort()
  }
  assert.deepEqual(await move(), ['1.0.0'])
  assert.match(await add('1.1.0'), /1\.0\.0 by 1\.1\.0\.\nThe next jobs on this machine use it/)
  // A runner that waits for the next job of this account has loaded the earlier version.
  assert.deepEqual(await move(), ['1.0.0', '1.1.0'])
})

test('a transfer without the code of its connector takes the connection offline, and succeeds when the folder is back', async (t) => {
  const stage = await prepareStage(t)
  const own = join(stage.base, 'connectors')
  const out = join(stage.base, 'out')
  await mkdir(out, { mode: 0o777 })
  await chmod(out, 0o777)
  const env = { PENSTOCK_CONNECTORS_DIR: own, PENSTOCK_LOCAL_FOLDERS: out }
  const opens = `source: { open: async () => ({ close: async () => {}, async *read(after) {
    if (after === undefined) yield { columns: ['n'], rows: [['1'], ['2']], bytes: 2, checkpoint: 1 }
  } }) }, `
  const from = await writePackage({ slug: 'acme-back', name: 'Acme Back', facts: opens })
  assert.equal((await stage.penstock(['connector', 'add', from], { env })).code, 0)
  const { url } = await stage.serve({ env })
  const { call, inAccount, connect } = await connectAdded(stage, url, env, out)
  const id = await connect('Back')
  const transfer = async () => {
    const started = await call(`/connections/${id}/transfers?${inAccount}`, {})
    let now: { status: string; error: { code: string; message: string } | null } | undefined
    await until('the transfer ends', async () => {
      now = await call(`/connections/${id}/transfers/${started.id}?${inAccount}`)
      return now?.status !== 'queued' && now?.status !== 'running'
    })
    return now
  }
  const gone = join(stage.base, 'gone')
  await rename(join(own, 'acme-back'), gone)
  const failed = await transfer()
  assert.equal(failed?.error?.code, 'connector_missing')
  const place = join(own, 'acme-back')
  assert(failed?.error?.message.includes(`the connector acme-back from ${place}`), failed?.error?.message)
  assert.notEqual((await call(`/connections/${id}?${inAccount}`)).status, 'active')
  await rename(gone, place)
  // It would be tried on its own after a minute.
  await call(`/connections/${id}/status?${inAccount}`, { action: 'activate' }, 'PUT')
  assert.equal((await transfer())?.status, 'succeeded')
})
