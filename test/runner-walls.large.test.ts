import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Job } from '@penstock/engine'
import { type ConfigError, readConfig } from '../packages/server/src/config.ts'
import { createLogger } from '../packages/server/src/log.ts'
import type { Runners } from '../packages/server/src/runners/runner-pool.ts'
import { runnersOf } from './harness/children.ts'
import { installHostile } from './harness/hostile-installation.ts'
import { prepareStage, tokenOf } from './harness/process.ts'

/** Capabilities of compromised connector code: it reaches nothing of the service, and cannot start processes. */

const attack = `
  const { paths, outside } = JSON.parse(context.secrets.url)
  const fs = await import('node:fs')
  const found: Record<string, string> = {}
  const attempt = async (name: string, act: () => unknown) => {
    try { found[name] = 'GOT ' + String(await act()).slice(0, 60) } catch (error: any) { found[name] = String(error.code ?? error.message) }
  }
  for (const [name, path] of Object.entries<string>(paths)) {
    await attempt('read ' + name, () => fs.readFileSync(path))
    await attempt('read by promise ' + name, () => fs.promises.readFile(path))
    await attempt('read as a URL ' + name, () => fs.readFileSync(new URL('file://' + path)))
    await attempt('read as bytes ' + name, () => fs.readFileSync(Buffer.from(path)))
    await attempt('read as a blob ' + name, async () => (await fs.openAsBlob(path)).text())
    await attempt('load as a module ' + name, async () => JSON.stringify(await import('file://' + path, { with: { type: 'json' } })))
    await attempt('require ' + name, async () => { const { createRequire } = await import('node:module'); return JSON.stringify(createRequire(import.meta.url)(path)) })
    await attempt('load as settings ' + name, () => process.loadEnvFile(path))
    await attempt('copy whole ' + name, () => fs.cpSync(path, paths.allowed + '.whole'))
    await attempt('stat ' + name, () => fs.statSync(path).size)
    await attempt('copy ' + name, () => fs.copyFileSync(path, paths.allowed + '.copy'))
    await attempt('write ' + name, () => fs.appendFileSync(path, 'x'))
    await attempt('link to ' + name, () => { fs.symlinkSync(path, paths.allowed + '.link'); return fs.readFileSync(paths.allowed + '.link') })
    await attempt('hard link to ' + name, () => { fs.linkSync(path, paths.allowed + '.hard'); return fs.readFileSync(paths.allowed + '.hard') })
  }
  await attempt('list', () => fs.readdirSync('/'))
  await attempt('open to list', () => fs.opendirSync('/').readSync()?.name)
  await attempt('glob', () => { const names = fs.globSync('/*'); if (names.length === 0) throw new Error('none'); return names })
  await attempt('snapshot', async () => (await import('node:v8')).writeHeapSnapshot(outside + '/snapshot'))
  await attempt('engine', async () => (await import('node:crypto')).setEngine('/usr/lib/any.so'))
  await attempt('compiled code', async () => {
    const { getCompileCacheDir } = await import('node:module')
    fs.writeFileSync(getCompileCacheDir() + '/x', 'x')
  })
  await attempt('environ', () => fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8').includes('canary'))
  await attempt('own environ', () => fs.readFileSync('/proc/self/environ'))
  await attempt('memory', () => fs.openSync('/proc/' + process.ppid + '/mem', 'r'))
  await attempt('environment', () => JSON.stringify(process.env).includes('canary') ? 'canary' : (() => { throw new Error('clean') })())
  const children = await import('node:child_process')
  for (const name of ['execSync', 'execFileSync', 'spawnSync', 'fork', 'exec', 'spawn'] as const) {
    await attempt(name, () => {
      const child: any = (children as any)[name]('/bin/cat', ['/proc/' + process.ppid + '/environ'])
      if (child?.error) throw child.error
      return child
    })
  }
  const threads = await import('node:worker_threads')
  for (const [name, options] of Object.entries({ plain: {}, flags: { execArgv: [] }, environment: { env: { NODE_OPTIONS: '--allow-fs-read=*' } } })) {
    await attempt('thread ' + name, () => new threads.Worker('1', { eval: true, ...options }))
  }
  await attempt('binding', () => (process as any).binding('fs'))
  await attempt('addon', () => process.dlopen({ exports: {} } as any, '/usr/lib/any.node'))
  await attempt('execve', () => (process as any).execve('/bin/cat', ['cat', '/etc/passwd'], {}))
  await attempt('report', () => process.report!.writeReport('/tmp/report.json'))
  await attempt('inspector', async () => { (await import('node:inspector')).open(0) })
  await attempt('sqlite', async () => { const { DatabaseSync } = await import('node:sqlite'); new DatabaseSync(paths.key) })
  await attempt('wasi', async () => { const { WASI } = await import('node:wasi'); new WASI({ version: 'preview1', preopens: { '/': '/' } } as any) })
  const permission = process.permission as any
  found.scopes = ['fs.read', 'fs.write', 'child', 'worker', 'addons', 'wasi', 'inspector'].filter((scope) => permission?.has(scope) ?? true).join(' ')
  return found
`

const onLinux = process.platform === 'linux' ? {} : { skip: 'the processes of others are found in /proc' }
const watch = { deadlineMs: 60_000 }
const never = new AbortController().signal
let directory: string
let runners: Runners
let given: string | undefined

before(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'penstock-walls-')))
  await mkdir(join(directory, 'allowed'))
  await mkdir(join(directory, '.penstock'))
  await writeFile(join(directory, 'allowed/file'), 'allowed')
  await writeFile(join(directory, '.penstock/master.key'), 'canary')
  await symlink(join(directory, '.penstock/master.key'), join(directory, 'allowed/leads-out'))
  given = process.env.PENSTOCK_MASTER_KEY
  process.env.PENSTOCK_MASTER_KEY = 'canary'
  const { createRunnerPool } = await installHostile(directory, attack)
  const settings = {
    egress: { networkPolicy: 'any' as const },
    plainHttp: { loopback: true, allow: [] },
    localFolders: [join(directory, 'allowed')],
    connectorsFolder: join(directory, 'connectors'),
  }
  const options = { settings, memoryBytesMax: 512 * 1024 ** 2, stallMs: 30_000, spare: false }
  runners = createRunnerPool(options, createLogger('silent'))
})
after(async () => {
  if (given === undefined) delete process.env.PENSTOCK_MASTER_KEY
  else process.env.PENSTOCK_MASTER_KEY = given
  await runners?.close()
  await rm(directory, { recursive: true, force: true })
})

async function runAttack(given: object): Promise<Map<string, string>> {
  const connector = { slug: 'hostile', secrets: { url: JSON.stringify(given) }, settings: {} }
  const job: Job = { kind: 'check', connector, deadlineMs: 60_000 }
  const result = await runners.run(job, { owner: 'hostile', watch, signal: never })
  assert(result.ok, JSON.stringify(result))
  return new Map(
    (result.value as readonly { name: string; message: string }[]).map(({ name, message }) => [name, message]),
  )
}

describe('code that was taken over in a runner', onLinux, () => {
  test('reads and writes nothing of the service, and starts nothing', async () => {
    const paths = {
      key: join(directory, '.penstock/master.key'),
      'key by a way around': join(directory, 'allowed/../.penstock/master.key'),
      'the code of the service': join(directory, 'packages/server/src/config.ts'),
      'another program': '/etc/passwd',
      environ: `/proc/${process.pid}/environ`,
    }
    const outside = join(directory, 'outside')
    await mkdir(outside)
    const found = await runAttack({
      paths: { ...paths, allowed: join(directory, 'allowed/copy') },
      outside,
    })
    assert.deepEqual(await readdir(outside), [])
    const got = [...found].filter(([name, message]) => message.startsWith('GOT') && !name.endsWith(' allowed'))
    assert.deepEqual(got, [])
    assert.equal(found.get('scopes'), '')
    assert(found.size > 50)
    assert.equal(await readFile(paths.key, 'utf8'), 'canary')
  })

  test('still has the folders that the operator allows', async () => {
    const file = join(directory, 'allowed/file')
    const found = await runAttack({ paths: { file, allowed: join(directory, 'allowed/x') } })
    assert.equal(found.get('read file'), 'GOT allowed')
    assert.equal(found.get('write file'), 'GOT undefined')
  })
})

describe('a service', () => {
  test(
    'shows the secrets of its environment to no other process, and reads them from files as well',
    onLinux,
    async (t) => {
      const stage = await prepareStage(t)
      const key = Buffer.alloc(32, 7).toString('base64')
      const file = join(stage.base, 'secret')
      await writeFile(file, 'canary-of-the-first-client\n')
      const served = await stage.serve({
        env: {
          PENSTOCK_MASTER_KEY: key,
          PENSTOCK_CLIENT_ID: 'first',
          PENSTOCK_CLIENT_SECRET_FILE: file,
        },
      })
      for (const pid of [served.pid, ...runnersOf(served.pid)]) {
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
        assert(!environment.includes(key) && !environment.includes('PENSTOCK'), environment)
      }
      const credentials = { clientId: 'first', clientSecret: 'canary-of-the-first-client' }
      assert(await tokenOf(served, stage.dataDirectory, credentials))
    },
  )

  test('refuses files of settings that it cannot use, with what to do', () => {
    const refused = (env: Record<string, string>) => {
      try {
        readConfig(env)
      } catch (error) {
        return (error as ConfigError).fieldErrors.join(' ')
      }
    }
    assert.match(
      refused({ DATABASE_URL_FILE: '/nowhere' }) ?? '',
      /\/nowhere, which cannot be read \(ENOENT\): name a file/,
    )
    const both = { PENSTOCK_MASTER_KEY: Buffer.alloc(32).toString('hex'), PENSTOCK_MASTER_KEY_FILE: '/dev/null' }
    assert.match(refused(both) ?? '', /PENSTOCK_MASTER_KEY and PENSTOCK_MASTER_KEY_FILE are both set: leave one out/)
    assert.match(refused({ PENSTOCK_SMTP_URL_FILE: '/dev/null' }) ?? '', /\/dev\/null, which is empty/)
  })
})
