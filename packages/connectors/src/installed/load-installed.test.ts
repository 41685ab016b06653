import assert from 'node:assert/strict'
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import { connectors } from '../index.ts'
import { loadInstalled } from './load-installed.ts'
import { writeDefinition } from './written-definition.ts'

/** Added connectors whose folder is missing or damaged: the error names the connector, the folder and the cure. */

const base = await mkdtemp(join(tmpdir(), 'penstock-installed-'))
await chmod(base, 0o755)
after(() => rm(base, { recursive: true, force: true }))

const webhook = connectors.find(({ slug }) => slug === 'webhook') ?? assert.fail()
const slug = 'acme-broken'
const code = `import { defineConnector, definePlatform } from '@penstock/connector'
export const connector = defineConnector({
  slug: '${slug}', name: 'Acme Broken', description: 'A test.', dataType: 'data store', dataTypeCategory: 'data store',
  platform: definePlatform({ slug: 'acme', name: 'Acme', type: 'Data Provider' }), secrets: {}, source: {}
})`

/** A folder with a whole connector, before it is damaged. */
async function folderWith({ index = code, record = {} }: { index?: string; record?: object } = {}): Promise<string> {
  const folder = await mkdtemp(join(base, 'connectors-'))
  await chmod(folder, 0o755)
  const root = join(folder, slug, 'code/package')
  await mkdir(root, { recursive: true })
  const definition = { ...writeDefinition(webhook), slug, name: 'Acme Broken' }
  const from = { name: 'acme', version: '1.0.0', from: 'acme' }
  const written = { form: 1, slug, package: from, main: 'package', definition, ...record }
  await writeFile(join(folder, slug, 'connector.json'), JSON.stringify(written))
  await writeFile(join(root, 'package.json'), JSON.stringify({ name: 'acme', type: 'module', exports: './index.js' }))
  await writeFile(join(root, 'index.js'), index)
  return folder
}
const load = (folder: string) => loadInstalled(folder, slug, { kind: 'open' })
const missing = (place: string, reason: RegExp) => (error: unknown) => {
  assert(error instanceof ConnectorError, String(error))
  assert.equal(error.code, 'connector_missing')
  assert(error.message.includes(`connector ${slug} from ${place}:`), error.message)
  assert.match(error.message, reason)
  assert.match(error.message, /restore this folder .*`connector add` of Penstock/)
  return true
}

const cases: readonly [string, () => Promise<string>, RegExp][] = [
  ['a missing folder', async () => join(base, 'gone'), /cannot be read \(ENOENT\)/],
  ['a missing folder of one connector', () => mkdtemp(join(base, 'empty-')), /cannot be read \(ENOENT\)/],
  ['a manifest of another version', () => folderWith({ record: { form: 2 } }), /another version of Penstock/],
  [
    'a definition that no longer parses',
    () => folderWith({ record: { definition: { slug } } }),
    /definition is wrong: name/,
  ],
  ['a package whose import throws', () => folderWith({ index: 'throw new Error("not today.")' }), /: not today\. Ask/],
  ['a package whose import throws no error', () => folderWith({ index: 'throw null' }), /its code threw null/],
  ['a package that defines another connector', () => folderWith({ index: 'export {}' }), /does not define it/],
  ['a package that is cut off', () => folderWith({ index: 'export const a = {' }), /Unexpected end of input/],
]
for (const [title, prepare, reason] of cases) {
  test(`${title} is a missing connector, in words`, async () => {
    const folder = await prepare()
    await assert.rejects(load(folder), missing(join(folder, slug), reason))
  })
}

test('a file that is not JSON and a file that this user cannot read are missing connectors, in words', async () => {
  const folder = await folderWith()
  const file = join(folder, slug, 'connector.json')
  await chmod(file, 0o000)
  // Root reads every file.
  const user = process.geteuid?.()
  if (user === 0) process.seteuid?.(65534)
  try {
    await assert.rejects(load(folder), missing(join(folder, slug), /cannot be read \(EACCES\)/))
  } finally {
    if (user === 0) process.seteuid?.(0)
  }
  await chmod(file, 0o644)
  await writeFile(file, '{')
  await assert.rejects(load(folder), missing(join(folder, slug), /is not JSON/))
})

test('the connector is loaded again once its folder is back', async () => {
  const whole = await folderWith()
  const folder = join(base, 'comes-back')
  await assert.rejects(load(folder), missing(join(folder, slug), /ENOENT/))
  await cp(whole, folder, { recursive: true })
  assert.equal((await load(folder)).slug, slug)
})
