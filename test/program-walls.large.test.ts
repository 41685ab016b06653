import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'

/** A hostile program tries to read the service and other jobs, in each way in which the service can run. */

const run = promisify(execFile)
const harness = join(import.meta.dirname, 'harness/hostile-program.ts')
const program = join(import.meta.dirname, '../packages/connectors/test/programs/hostile-source.js')
const isRoot = process.platform === 'linux' && process.getuid?.() === 0
const scopeOfTraces = '/proc/sys/kernel/yama/ptrace_scope'
const ordinary = isRoot ? Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' })) : undefined
const hasNamespaces =
  isRoot &&
  spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', '--proc', '/proc', 'true'], {
    uid: ordinary,
    gid: ordinary,
  }).status === 0

/** Whether processes of one user can trace each other on this machine, and the program can try. */
const mayTrace =
  existsSync('/usr/bin/python3') && (!existsSync(scopeOfTraces) || readFileSync(scopeOfTraces, 'utf8').trim() === '0')

const canary = ['canary', 'of', 'others'].join('-')

type Given = { readonly user: number | undefined; readonly env?: Record<string, string> }

async function attack(t: TestContext, { user, env = {} }: Given): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'penstock-program-walls-'))
  t.after(() => rm(base, { recursive: true, force: true }))
  chmodSync(base, 0o755)
  if (user !== undefined) chownSync(base, user, user)
  const { stdout } = await run(process.execPath, [harness, base, program], {
    ...(user === undefined ? {} : { uid: user, gid: user }),
    env: {
      PATH: process.env.PATH,
      PENSTOCK_CLIENT_ID: canary,
      PENSTOCK_CLIENT_SECRET: canary,
      ...env,
    },
    timeout: 120_000,
  })
  return stdout
}

describe('a hostile program', { skip: !isRoot && 'only root can become another user' }, () => {
  test('gets nothing if the service is root: its job has its own user', async (t) => {
    assert.match(await attack(t, { user: undefined }), /got: nothing/)
  })

  test('gets nothing if the service is an ordinary user with bubblewrap', {
    skip: !hasNamespaces && 'bubblewrap is not installed, or cannot make namespaces',
  }, async (t) => {
    assert.match(await attack(t, { user: ordinary }), /got: nothing/)
  })

  test('does not run if nothing would keep it from secrets, and the refusal says what it could read', async (t) => {
    const env = { PATH: join(process.execPath, '..') }
    assert.match(
      await attack(t, { user: ordinary, env }),
      /^refused: Programs are off.*master key.*PENSTOCK_PROGRAMS=open/,
    )
    const root = { PENSTOCK_RUNNER_USER: 'root' }
    assert.match(await attack(t, { user: undefined, env: root }), /^refused: Programs are off.*rights of root/)
  })

  test('gets the secrets of others if the operator opens the wall', async (t) => {
    const got = await attack(t, { user: ordinary, env: { PENSTOCK_PROGRAMS: 'open' } })
    for (const what of [
      'master key',
      'data directory',
      'temporary files',
      'configuration of another job',
      'environment of another job',
      'change of memory of another job',
      'change of memory of the service',
      ...(mayTrace ? ['trace of another job', 'trace of the service'] : []),
      'socket of PostgreSQL',
    ])
      assert(got.includes(what), `${what}: ${got}`)
  })
})
