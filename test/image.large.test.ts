import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { buildConsole } from './harness/built-console.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import { assertDocumented } from './harness/documented-sizes.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { freePort, http, prepareStage, type Stage, tokenOf } from './harness/process.ts'
import { skipWithout } from './harness/programs.ts'
import { until } from './harness/until.ts'

/**
 * The image, built from the Dockerfile without a daemon, unpacked and started: in separate namespaces, with a read-only root,
 * as its user, without rights. It uses the network of the machine.
 */

const root = dirname(import.meta.dirname)
const run = promisify(execFile)
const user = 1000
const skip =
  skipWithout('buildah') ||
  skipWithout('mmdebstrap') ||
  (process.getuid?.() === 0 ? false : 'Only root can build and start the image.')

type ImageConfig = { User: string; Env: string[]; Entrypoint: string[]; Cmd: string[]; Healthcheck: { Test: string[] } }

describe('the image', { skip }, () => {
  let work: string
  let folder: string
  let data: string
  let config: ImageConfig
  let stage: Stage
  let database: TestDatabase
  const leaving: (() => Promise<void>)[] = []

  before(async () => {
    await buildConsole()
    work = await mkdtemp(join(tmpdir(), 'penstock-image-'))
    const [archive, built] = [join(work, 'image.tar'), join(work, 'built')]
    await run(process.execPath, [join(root, 'packages/server/build.ts'), built], { cwd: root })
    await run('bash', [join(root, 'scripts/image.sh'), archive, built], { cwd: root })
    const parts = join(work, 'parts')
    folder = join(work, 'root')
    data = join(work, 'data')
    for (const made of [parts, folder, join(data, 'files')]) await mkdir(made, { recursive: true })
    for (const owned of [data, join(data, 'files')]) await chown(owned, user, user)
    await run('tar', ['-xf', archive, '-C', parts])
    const [manifest] = JSON.parse(await readFile(join(parts, 'manifest.json'), 'utf8'))
    config = JSON.parse(await readFile(join(parts, manifest.Config), 'utf8')).config
    for (const layer of manifest.Layers) await run('tar', ['-xf', join(parts, layer), '-C', folder])
    const { size } = await stat(archive)
    await assertDocumented('docs/installing.md', /images: (\d+) MB/, size)
    database = await createTestDatabase()
    stage = await prepareStage({ after: (end) => leaving.push(end) })
  })
  after(async () => {
    for (const leave of leaving) await leave()
    await database?.drop()
    await rm(work, { recursive: true, force: true })
  })

  /** Arguments for `unshare` that run a command of the image. */
  const inside = (...command: string[]) => {
    const prepare = `mount --bind "$0" "$0"; mount -o remount,ro,bind "$0"; mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"
      mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount --bind "$1" "$0/var/lib/penstock"; root=$0; shift
      exec setpriv --no-new-privs chroot --userspec=${config.User} --groups= "$root" "$@"`
    return ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', prepare, folder, data, ...command]
  }
  const environment = (port: number) => ({
    ...Object.fromEntries(
      config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
    PENSTOCK_PORT: String(port),
    PENSTOCK_HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    PENSTOCK_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    PENSTOCK_LOCAL_FOLDERS: '/var/lib/penstock/files',
  })

  const program = 'packages/connectors/test/programs/hostile-source.js'
  const addProgram = (env: Record<string, string>) => {
    const named = ['--slug', 'acme-hostile', '--name', 'Acme Hostile', '--json']
    const command = [
      'penstock',
      'connector',
      'add',
      '--airbyte',
      'node /var/lib/penstock/files/hostile-source.js',
      ...named,
    ]
    return spawnSync('unshare', inside(...command), { env, encoding: 'utf8' })
  }
  /** Runs the hostile program by a check of its connector. The service of the image allows programs. */
  const tryProgram = async (
    call: <T>(path: string, body?: unknown, method?: string) => Promise<T>,
    of: string,
  ): Promise<void> => {
    await cp(join(root, program), join(data, 'files/hostile-source.js'))
    const refused = addProgram(environment(0))
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /Programs are off.*PENSTOCK_PROGRAMS=open/)
    const added = addProgram({ ...environment(0), PENSTOCK_PROGRAMS: 'open' })
    assert.equal(added.status, 0, added.stderr)
    const { connectorId } = JSON.parse(added.stdout)
    // The service sees the folder within seconds.
    await until('the connector is added', () =>
      call(`/connectors?${of}`, { connectorIds: [connectorId] }).then(
        () => true,
        () => false,
      ),
    )
    // The first process of the namespace is the service.
    const targets = {
      masterKey: '/nonexistent',
      dataDirectory: '/var/lib/penstock',
      socket: '/nonexistent',
      service: 1,
      others: [],
    }
    const configuration = `/connectors/${connectorId}/configuration?${of}`
    await call(configuration, { secretConfig: { targets: JSON.stringify(targets) } }, 'PUT')
    const checked = await call<object>(`/connectors/${connectorId}/check?${of}`, {})
    for (const what of [
      'data directory',
      'environment of the service',
      'memory of the service',
      'change of memory of the service',
    ])
      assert(JSON.stringify(checked).includes(what), JSON.stringify(checked))
  }

  test('has a user without rights, the version, and a list of what it contains', async () => {
    assert.equal(config.User, `${user}:${user}`)
    assert.equal((await stat(join(folder, 'var/lib/penstock'))).mode & 0o777, 0o700)
    const { components } = JSON.parse(await readFile(join(folder, 'opt/penstock/sbom.cdx.json'), 'utf8'))
    assert(components.some(({ name }: { name: string }) => name === 'fastify'))
    const env = environment(0)
    const printed = execFileSync('unshare', inside('penstock', '--version'), { env, encoding: 'utf8' })
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    assert(
      printed.startsWith(`penstock ${version}\nNode ${(await readFile(join(root, '.node-version'), 'utf8')).trim()}\n`),
    )
    const outside = [process.execPath, '-e', `require('fs').writeFileSync('/opt/penstock/written', '')`]
    assert.throws(
      () => execFileSync('unshare', inside('node', ...outside.slice(1)), { env, stdio: 'pipe' }),
      /EROFS|EACCES/,
    )
  })

  test('starts only with a database and a master key, which would be lost with the container otherwise', async () => {
    const { PENSTOCK_MASTER_KEY: key, DATABASE_URL: url, ...env } = environment(await freePort())
    for (const [given, said] of [
      [{ DATABASE_URL: url }, /PENSTOCK_MASTER_KEY is needed with DATABASE_URL/],
      [{ PENSTOCK_MASTER_KEY: key }, /DATABASE_URL/],
    ] as const) {
      const served = stage.start('unshare', inside(...config.Entrypoint, ...config.Cmd), { env: { ...env, ...given } })
      assert.notEqual((await served.ended).code, 0)
      assert.match(served.said.stderr, said)
    }
    assert.equal(existsSync(join(data, 'master.key')), false)
  })

  test('starts, is healthy, and moves a file', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = environment(port)
    const served = stage.start('unshare', inside(...config.Entrypoint, ...config.Cmd), {
      env: { ...env, PENSTOCK_PROGRAMS: 'open' },
    })
    // `unshare` ignores a polite signal, and its end ends the service.
    leaving.unshift(async () => void (served.hasEnded || served.signal('SIGKILL')))
    await until('the service has greeted', async () => {
      if (served.hasEnded) assert.fail(served.said.stderr)
      return served.said.stdout.includes('Try it')
    })
    assert.doesNotMatch(served.said.stderr, /"error"/)
    const [, create = ''] = /\n {2}docker exec \S+ (penstock org create .*)\n/.exec(served.said.stdout) ?? []
    const made = execFileSync('unshare', inside(...create.split(' '), '--json'), { env, encoding: 'utf8' })
    const { clientId, clientSecret } = JSON.parse(made)
    const [kind, ...health] = config.Healthcheck.Test
    assert.equal(kind, 'CMD')
    execFileSync('unshare', inside(...health), { env })
    assert.throws(() => execFileSync('unshare', inside(...health), { env: environment(1), stdio: 'pipe' }))

    await writeFile(join(data, 'files/people.csv'), 'id,email\n1,lia@example.com\n2,omar@example.com\n')
    assert.equal(existsSync(join(data, 'credentials.json')), false)
    const token = await tokenOf({ url }, data, { clientId, clientSecret })
    const call = async <T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
      const answer = await http(url, path, { token, method, ...(body === undefined ? {} : { body }) })
      assert(answer.status < 300, answer.text)
      return answer.response as T
    }
    const { id: accountId } = await call<{ id: string }>('/accounts', { name: 'First steps' })
    const of = `accountId=${accountId}`
    await tryProgram(call, of)
    const { id: connectorId } = connectorBySlug('local-folder')
    await call(`/connectors?${of}`, { connectorIds: [connectorId] })
    const secretConfig = { folder: '/var/lib/penstock/files' }
    await call(`/connectors/${connectorId}/configuration?${of}`, { secretConfig }, 'PUT')
    const { id } = await call<{ id: string }>(`/connections?${of}`, {
      name: 'Copy',
      srcConnectorId: connectorId,
      destConnectorId: connectorId,
      srcConnectionConfig: { files: 'people.csv' },
      destConnectionConfig: { prefix: 'copy-' },
    })
    await call(`/connections/${id}/status?${of}`, { action: 'activate' }, 'PUT')
    const begun = await call<{ id: string }>(`/connections/${id}/transfers?${of}`, {})
    type Transfer = { finishedTime: string | null; status: string; records: Record<string, number>; error: unknown }
    const transfer = await until('the transfer has ended', async () => {
      const now = await call<Transfer>(`/connections/${id}/transfers/${begun.id}?${of}`)
      return now.finishedTime === null ? undefined : now
    })
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 2, sent: 2, accepted: 2, rejected: 0 })
    // `unshare` ignores the signal. The service is its only child.
    const children = await readFile(`/proc/${served.pid}/task/${served.pid}/children`, 'utf8')
    process.kill(Number(children), 'SIGTERM')
    assert.equal((await served.ended).code, 0)
  })
})
