/** If the service runs as root, its runners do not: they run as a separate user, who has no access to the service. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ConfigError } from '../packages/server/src/config.ts'
import { findRunnerUser } from '../packages/server/src/runners/runner-user.ts'
import { ownersOf, runnersOf } from './harness/children.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { http, prepareStage, tokenOf } from './harness/process.ts'
import { until } from './harness/until.ts'

const own = 60_800
const isRoot = process.platform === 'linux' && process.getuid?.() === 0
const canRead = isRoot && spawnSync('/bin/cat', [import.meta.filename], { uid: own, gid: own }).status === 0
const asRoot = canRead
  ? {}
  : { skip: 'only root can give processes another user, and that user must reach this checkout' }

describe('the user of runners', asRoot, () => {
  let base: string
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'penstock-runner-user-'))
    await chmod(base, 0o711)
  })
  after(() => rm(base, { recursive: true, force: true }))

  const folderOf = async (name: string, uid: number) => {
    const folder = join(base, name)
    await mkdir(folder, { mode: 0o700 })
    await chown(folder, uid, uid)
    return folder
  }
  const refused = (runnerUser: string, localFolders: readonly string[] = []) => {
    try {
      findRunnerUser({ runnerUser, localFolders })
    } catch (error) {
      assert(error instanceof ConfigError)
      return error.message
    }
    return ''
  }

  test('is one of their own, one that is set, or on request that of the service', async () => {
    const folder = await folderOf('granted', own)
    const find = (runnerUser?: string) => findRunnerUser({ runnerUser, localFolders: [] })
    assert.deepEqual(findRunnerUser({ runnerUser: undefined, localFolders: [folder] }), {
      user: { uid: own, gid: own },
    })
    assert.deepEqual(find('70001'), { user: { uid: 70_001, gid: 70_001 } })
    assert.deepEqual(find('70001:70002'), { user: { uid: 70_001, gid: 70_002 } })
    assert.deepEqual(find('nobody'), { user: { uid: 65_534, gid: 65_534 } })
    assert.deepEqual(find('root'), { user: undefined })
    // A folder that does not exist is another warning.
    assert.deepEqual(
      findRunnerUser({ runnerUser: undefined, localFolders: [join(base, 'missing')] }).warning,
      undefined,
    )
  })

  test('is that of the service, with a warning, if another one cannot use a local folder', async () => {
    const folder = await folderOf('of-root', 0)
    const { user, warning = '' } = findRunnerUser({ runnerUser: undefined, localFolders: [folder] })
    assert.equal(user, undefined)
    assert.match(
      warning,
      new RegExp(`rights of root, because the user ${own} cannot read and write the folder ${folder}`),
    )
  })

  test('is refused if it was set and cannot be used', async () => {
    const folder = await folderOf('of-root-too', 0)
    assert.match(
      refused('nobody', [folder]),
      /PENSTOCK_RUNNER_USER is nobody, and the user 65534 cannot read and write/,
    )
    assert.match(refused('no-such-user'), /must be the name of a user in \/etc\/passwd or a number/)
    const program = `
      import { findRunnerUser } from '${join(import.meta.dirname, '../packages/server/src/runners/runner-user.ts')}'
      const find = (runnerUser) => findRunnerUser({ runnerUser, localFolders: [] })
      console.log(JSON.stringify([find(undefined), find('${own}')]))
      find('nobody')`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      uid: own,
      gid: own,
      cwd: '/',
      env: {},
      encoding: 'utf8',
    })
    assert.deepEqual(JSON.parse(stdout), [{}, {}])
    assert.match(stderr, /only root can start runners as another user: start Penstock as root, or remove the setting/)
  })

  test('moves data, and cannot reach the service', async (t) => {
    const stage = await prepareStage(t)
    const folder = join(stage.base, 'files')
    await mkdir(folder)
    await writeFile(join(folder, 'people.csv'), 'id,email\n1,a@example.com\n2,b@example.com\n')
    await chown(folder, own, own)
    const served = await stage.serve({ env: { PENSTOCK_LOCAL_FOLDERS: folder } })
    const token = await tokenOf(served, stage.dataDirectory)
    const call = async <T>(path: string, method = 'GET', body?: unknown): Promise<T> => {
      const reply = await http(served.url, path, { token, method, ...(body === undefined ? {} : { body }) })
      assert(reply.status < 300, reply.text)
      return reply.response as T
    }
    const { id: accountId } = await call<{ id: string }>('/accounts', 'POST', { name: 'Walled' })
    const { id: connector } = connectorBySlug('local-folder')
    const of = `accountId=${accountId}`
    await call(`/connectors?${of}`, 'POST', { connectorIds: [connector] })
    await call(`/connectors/${connector}/configuration?${of}`, 'PUT', { secretConfig: { folder } })
    const { id } = await call<{ id: string }>(`/connections?${of}`, 'POST', {
      name: 'People',
      srcConnectorId: connector,
      destConnectorId: connector,
      srcConnectionConfig: { files: 'people.csv' },
      destConnectionConfig: { subfolder: 'out' },
    })
    await call(`/connections/${id}/status?${of}`, 'PUT', { action: 'activate' })
    const { id: transferId } = await call<{ id: string }>(`/connections/${id}/transfers?${of}`, 'POST', {})
    const ended = await until('the transfer has ended', async () => {
      type Transfer = { status: string; finishedTime: number | null; records: { accepted: number } }
      const found = await call<Transfer>(`/connections/${id}/transfers/${transferId}?${of}`)
      return found.finishedTime === null ? undefined : found
    })
    assert.deepEqual([ended.status, ended.records.accepted], ['succeeded', 2])
    const runners = runnersOf(served.pid)
    assert(runners.length > 0)
    for (const pid of runners) {
      const ids = [own, own, own, own].join(' ')
      assert.deepEqual(ownersOf(pid), { uids: ids, gids: ids, groups: '' })
    }
    const paths = [`/proc/${served.pid}/environ`, `/proc/${served.pid}/mem`, join(stage.dataDirectory, 'master.key')]
    for (const path of paths) {
      const { status } = spawnSync('/bin/cat', [path], { uid: own, gid: own })
      assert.notEqual(status, 0, `${path} can be read`)
    }
    assert.notEqual(spawnSync('/bin/kill', ['-0', String(served.pid)], { uid: own, gid: own }).status, 0)
  })
})
