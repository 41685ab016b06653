import assert from 'node:assert/strict'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Connector } from '@penstock/connector'
import { type OperationId, operations } from '@penstock/wire'
import { installedConnectors } from '../packages/server/src/connectors/definitions.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { contentOf } from './harness/content.ts'
import { type Caller, callerOf, destination, destinationSettings } from './harness/fixtures.ts'
import { type Organization, startServiceOn, startTestService, type TestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/** Connectors that the operator added, when their folder is missing or damaged: the API works, and only their jobs fail. */

const slug = 'acme-kept'
const index = `import { defineConnector, definePlatform } from '@penstock/connector'
export const connector = defineConnector({
  slug: '${slug}', name: 'Acme Kept', description: 'A test.', dataType: 'data store', dataTypeCategory: 'data store',
  platform: definePlatform({ slug: 'acme', name: 'Acme', type: 'Data Provider' }),
  secrets: { apiKey: { type: 'Password', label: 'API key', description: 'A key.', required: true, readonly: false },
    bucket: { type: 'Text', label: 'Bucket', description: 'The service fills it.', required: false, readonly: true },
    issuedKey: { type: 'Password', label: 'Issued key', description: 'The service fills it.', required: false, readonly: true } },
  check: async () => [{ name: 'key', ok: true, message: 'It works.' }],
  source: {
    fields: { zone: { type: 'Text', label: 'Zone', description: 'A zone.', required: false, readonly: false } },
    open: async () => { throw new Error('not opened') },
  },
})`

let base: string
let whole: string
let service: TestService
let organization: Organization
let acme: Connector
let accountId: string
let connectionId: string
const masterKey = generateMasterKey()
const settings = (folder: string) => ({ PENSTOCK_CONNECTORS_DIR: folder, PENSTOCK_MASTER_KEY: masterKey })

before(async () => {
  base = await mkdtemp(join(tmpdir(), 'penstock-definitions-'))
  // Runners have another user.
  await chmod(base, 0o755)
  whole = join(base, 'whole')
  await writeConnector(whole)
  const found = installedConnectors({ connectorsFolder: whole })
  assert.deepEqual(found.problems, [])
  acme = found.connectors[0]?.connector ?? assert.fail()
  service = await startTestService(settings(whole))
  organization = await service.addOrganization()
  const caller = callerOf(service, organization)
  accountId = (await caller.addAccount()).id
  await caller.addConnectors(accountId, acme, destination)
  await configure(caller)
  connectionId = (await caller.expect(caller.call('createConnection', { accountId, body: connection('First') }))).id
})
after(async () => {
  await service?.close()
  await rm(base, { recursive: true, force: true })
})

async function writeConnector(folder: string): Promise<void> {
  const root = join(folder, slug, 'code/package')
  await mkdir(root, { recursive: true })
  await writeFile(join(root, 'package.json'), JSON.stringify({ name: 'acme', type: 'module', exports: './index.js' }))
  await writeFile(join(root, 'index.js'), index)
  const field = { description: 'A field.', required: false, readonly: false }
  const definition = {
    slug,
    name: 'Acme Kept',
    description: 'A test.',
    dataType: 'data store',
    dataTypeCategory: 'data store',
    platform: { slug: 'acme', name: 'Acme', type: 'Data Provider' },
    secrets: {
      apiKey: { ...field, type: 'Password', label: 'API key', required: true },
      bucket: { ...field, type: 'Text', label: 'Bucket', readonly: true },
      issuedKey: { ...field, type: 'Password', label: 'Issued key', readonly: true },
    },
    checks: true,
    source: { fields: { zone: { ...field, type: 'Text', label: 'Zone' } }, discovers: [], opens: true },
  }
  const from = { name: 'acme', version: '1.0.0', from: 'acme' }
  const record = { form: 1, slug, package: from, main: 'package', definition, addedTime: '2026-01-02T00:00:00Z' }
  await writeFile(join(folder, slug, 'connector.json'), JSON.stringify(record))
}
const connection = (name: string) => ({
  name,
  srcConnectorId: acme.id,
  destConnectorId: destination.id,
  srcConnectionConfig: { zone: 'north' },
  destConnectionConfig: destinationSettings,
})
const configure = ({ call, expect }: Caller) =>
  expect(call('configureConnector', { accountId, id: acme.id, body: { secretConfig: { apiKey: 'canary-acme' } } }))

async function makeFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(base, prefix))
  await chmod(folder, 0o755)
  return folder
}

/** Changes the only file of the definition. */
async function withRecord(change: (record: Record<string, unknown>) => object | string): Promise<string> {
  const folder = await makeFolder('damaged-')
  await cp(whole, folder, { recursive: true })
  const file = join(folder, slug, 'connector.json')
  const changed = change(JSON.parse(await readFile(file, 'utf8')))
  await writeFile(file, typeof changed === 'string' ? changed : JSON.stringify(changed))
  return folder
}

test('a field that the service fills is refused if a caller sends a value, and empty values are accepted', async () => {
  const caller = callerOf(service, organization)
  const where = { accountId: (await caller.addAccount()).id, id: acme.id }
  await caller.addConnectors(where.accountId, acme)
  const save = (more: Record<string, string | null>) =>
    caller.call('configureConnector', { ...where, body: { secretConfig: { apiKey: 'canary-acme', ...more } } })
  const content = await contentOf(service)
  const { status, error, details, text } = await save({ bucket: 'b', issuedKey: 'canary-issued' })
  const fields = details.map(({ field }) => field)
  assert.deepEqual(
    [status, error, fields],
    [400, 'invalid_request', ['body.secretConfig.bucket', 'body.secretConfig.issuedKey']],
  )
  assert.equal(await contentOf(service), content)
  assert(!text.includes('canary'), 'a refusal repeats a secret')
  await caller.expect(save({ bucket: '', issuedKey: null }))
  assert.equal((await caller.expect(caller.call('getConnectorConfiguration', where))).configured, true)
  const owner = await firstConfiguration(service.database, { accountId: where.accountId, connectorId: acme.id })
  assert.deepEqual(await openSecrets(service.database, service.service.deps.keyring, owner), { apiKey: 'canary-acme' })
})

const damages: readonly [string, () => Promise<string>, RegExp][] = [
  ['its folder is missing', async () => join(base, 'none'), /connector.json cannot be read \(ENOENT\)/],
  ['the folder of one connector is missing', () => makeFolder('empty-'), /cannot be read \(ENOENT\)/],
  ['its folder is a file', async () => join(whole, slug, 'connector.json'), /cannot be read \(ENOTDIR\)/],
  ['its file is cut off', () => withRecord((record) => JSON.stringify(record).slice(0, 99)), /is not JSON/],
  [
    'its definition no longer parses',
    () => withRecord((record) => ({ ...record, definition: {} })),
    /definition is wrong/,
  ],
  [
    'its manifest is of another version',
    () => withRecord((record) => ({ ...record, form: 2 })),
    /another version of Penstock/,
  ],
]

describe('the API works for an account with an added connector', () => {
  for (const [title, damage, reason] of damages) {
    test(`if ${title}`, async () => {
      const folder = await damage()
      const without = await startServiceOn(service.databaseUrl, settings(folder))
      try {
        const { call, expect } = callerOf(without, organization)
        const added = await expect(call('listAddedConnectors', { accountId }))
        assert(added.some(({ connectorId }) => connectorId === acme.id))
        const definition = await expect(call('getConnectorDefinition', { id: acme.id }))
        assert.deepEqual(
          definition.secretFields.map(({ name }) => name),
          ['apiKey', 'bucket', 'issuedKey'],
        )
        assert((await expect(call('listConnectors', { accountId, query: { q: 'Acme Kept' } }))).length === 1)
        assert.equal((await without.send({ method: 'GET', path: `/docs/connectors/${slug}` })).status, 200)
        await configure(callerOf(without, organization))
        await expect(call('createConnection', { accountId, body: connection(title) }))
        const { ok, message } = await expect(call('checkConnector', { accountId, id: acme.id }))
        assert.equal(ok, false)
        assert(message.includes(`connector ${slug} from ${join(folder, slug)}:`), message)
        assert.match(message, reason)
        const named = without.logLines.find((line) => line.includes(`added connector ${slug}, ${acme.id}`))
        assert.match(named ?? '', reason)
      } finally {
        await without.close()
      }
    })
  }

  test('no operation fails on the server, whatever it names', async () => {
    const without = await startServiceOn(service.databaseUrl, settings(join(base, 'none')))
    try {
      const failed: string[] = []
      // Each changes its account, or removes it.
      const last = ['deleteAccount', 'deleteOrganization']
      for (const id of Object.keys(operations) as OperationId[]) {
        if (last.includes(id)) continue
        for (const named of [acme.id, connectionId, accountId]) {
          const { method } = operations[id]
          const reply = await without.call(id, {
            token: organization.token,
            accountId,
            id: named,
            transferId: named,
            ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} as never }),
          })
          if (reply.status >= 500) failed.push(`${id} ${reply.text}`)
        }
      }
      assert.deepEqual(failed, [])
    } finally {
      await without.close()
    }
  })
})

test('a running process learns of a connector, of its loss, and that it is back, without a restart', async () => {
  const folder = join(base, 'comes-back')
  await mkdir(folder)
  const database = await startTestService(settings(folder))
  try {
    const caller = callerOf(database, await database.addOrganization())
    const { id } = await caller.addAccount()
    const lists = async () =>
      (await caller.expect(caller.call('listConnectors', { accountId: id, query: { q: 'Acme Kept' } }))).length
    assert.equal(await lists(), 0)
    await cp(whole, folder, { recursive: true })
    await until('the connector is listed', async () => (await lists()) === 1)
    await caller.addConnectors(id, acme)
    const body = { secretConfig: { apiKey: 'canary-acme' } }
    await caller.expect(caller.call('configureConnector', { accountId: id, id: acme.id, body }))
    const check = () => caller.expect(caller.call('checkConnector', { accountId: id, id: acme.id }))
    assert.equal((await check()).ok, true)
    await rm(join(folder, slug), { recursive: true })
    await until('the loss is logged', () => database.logLines.some((line) => line.includes('cannot load the added')))
    assert.equal(await lists(), 1)
    await cp(whole, folder, { recursive: true })
    await until('the connector can be loaded', () => database.logLines.some((line) => line.includes('loaded again')))
    assert.equal((await check()).ok, true)
  } finally {
    await database.close()
  }
})

test('an older version that another machine has replaces no newer definition', async () => {
  const older = await withRecord((record) => ({
    ...record,
    addedTime: '2026-01-01T00:00:00Z',
    package: { name: 'acme', version: '0.9.0', from: 'acme' },
  }))
  const other = await startServiceOn(service.databaseUrl, settings(older))
  try {
    const page = await other.send({ method: 'GET', path: `/docs/connectors/${slug}` })
    assert.match(page.text, /acme 1\.0\.0/)
  } finally {
    await other.close()
  }
})
