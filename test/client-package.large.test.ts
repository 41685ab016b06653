import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type Inbox, makeInbox } from './harness/connections.ts'
import { addParty, type Party, scenarios } from './harness/scenarios.ts'
import { startTestService, type TestService } from './harness/service.ts'

/** The published client: its tarball in an empty project, without anything from this repository. */

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
let inbox: Inbox
let service: TestService
let party: Party
let baseUrl: string
let project: string
before(async () => {
  inbox = await makeInbox()
  service = await startTestService(inbox.env)
  party = await addParty(service, inbox.folder)
  baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
  project = await mkdtemp(join(tmpdir(), 'penstock-client-'))
  const built = join(project, 'built')
  await run(process.execPath, [join(root, 'packages/client/build.ts'), built], { cwd: root })
  await run('npm', ['pack', '--pack-destination', project], { cwd: built })
  await writeFile(join(project, 'package.json'), '{"private": true, "type": "module"}')
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? ''
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd: project })
  await rm(built, { recursive: true })
})
after(async () => {
  await service.close()
  await inbox.remove()
  await rm(project, { recursive: true, force: true })
})

const credentials = () => ({
  PENSTOCK_URL: baseUrl,
  PENSTOCK_CLIENT_ID: party.organization.clientId,
  PENSTOCK_CLIENT_SECRET: party.organization.clientSecret,
})

/** Runs a program in the project. */
async function runProgram(name: string, text: string, env: Record<string, string> = {}): Promise<string> {
  await writeFile(join(project, name), text)
  const { stdout } = await run(process.execPath, [name], {
    cwd: project,
    env: { PATH: process.env.PATH, ...credentials(), ...env },
  })
  return stdout
}

describe('the published client', () => {
  test('depends on nothing, and has no word of another package of ours', async () => {
    const folder = join(project, 'node_modules', '@penstock', 'client')
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    assert.deepEqual([manifest.dependencies, manifest.private, manifest.type], [undefined, undefined, 'module'])
    assert.deepEqual(await readdir(join(project, 'node_modules', '@penstock')), ['client'])
    const files = await readdir(folder)
    assert(files.includes('README.md') && files.includes('LICENSE') && files.includes('index.d.ts'))
    for (const file of files) {
      assert.doesNotMatch(await readFile(join(folder, file), 'utf8'), /@penstock\/wire|typebox|\.ts'/, file)
    }
  })

  test('runs the example of its README', async () => {
    const readme = await readFile(join(root, 'packages/client/README.md'), 'utf8')
    const example = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    const lines = (await runProgram('example.js', example)).trim().split('\n')
    assert.match(lines[0] ?? '', /^[0-9a-f]{16} Acme$/)
    assert.match(lines.at(-1) ?? '', /^not_found Not found\./)
  })

  test('downloads the records that a transfer rejected', async () => {
    const call = await scenarios.listRejects.prepare(party)
    const program = `
      import { createClient, download, PenstockError } from '@penstock/client'
      const { PENSTOCK_URL: baseUrl, PENSTOCK_CLIENT_ID: clientId, PENSTOCK_CLIENT_SECRET: clientSecret, CALL } = process.env
      const client = createClient({ baseUrl, clientId, clientSecret })
      const csv = await download(client, 'listRejects', JSON.parse(CALL), 'text/csv')
      for await (const bytes of csv) process.stdout.write(bytes)
      await download(client, 'listRejects', { ...JSON.parse(CALL), id: '0123456789abcdef' }, 'text/csv').catch((error) =>
        console.log(error instanceof PenstockError && error.code))`
    const lines = (await runProgram('download.js', program, { CALL: JSON.stringify(call) })).trim().split('\n')
    const rejects = await service.call('listRejects', { ...call, token: party.organization.token } as never)
    assert.equal(lines.length, 2 + (rejects.response as unknown as unknown[]).length)
    assert.equal(lines.at(-1), 'not_found')
  })

  test('has types that know each operation', async () => {
    const program = `
      import { createClient, download, everyPage } from '@penstock/client'
      const client = createClient({ baseUrl: '', token: '' })
      const { reply, etag } = await client.getConnection({ accountId: 'a', id: 'b' })
      const name: string = reply.name
      const status: 'In-progress' | 'active' | 'disabled' | 'deleted' | 'broken' | 'offline' = reply.status
      const { total } = await client.listConnections({ query: { size: 5 } })
      const count: number = total
      await client.updateConnection({ accountId: 'a', id: 'b', body: { name: 'c' }, ifMatch: etag })
      for await (const page of everyPage(client, 'listAccounts')) page.reply.map((account) => account.volume.toFixed())
      await download(client, 'listRejects', { accountId: 'a', id: 'b', transferId: 'c' }, 'application/x-ndjson')
      // @ts-expect-error accountId is required
      client.getConnection({ id: 'b' })
      // @ts-expect-error there is no such field
      client.addAccount({ body: { name: 'a', volume: 1 } })
      // @ts-expect-error there is no such action
      client.updateConnectionStatus({ accountId: 'a', id: 'b', body: { action: 'stop' } })
      // @ts-expect-error it is not streamed
      download(client, 'listAccounts', {}, 'text/csv')
      export { count, name, status }`
    await writeFile(join(project, 'typed.ts'), program)
    const options = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.asynciterable'],
      strict: true,
      noEmit: true,
      types: [],
    }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['typed.ts'] }))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    await run(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: project }).catch(({ stdout }) =>
      assert.fail(stdout),
    )
  })
})
