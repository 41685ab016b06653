import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { buildProgram } from '../packages/server/src/cli/program.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { asTyped, ownCommand, type PrintingProcess } from '../packages/server/src/own-command.ts'

/** Commands in texts for people. */

const root = dirname(import.meta.dirname)
const place = 'packages/server/src/own-command.ts'
const names = buildProgram()
  .commands.map((command) => command.name())
  .filter((name) => name !== 'documents')
const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The programs that are released, without their comments. */
const programs = files
  .filter((file) => /^packages\/.*\/(?:src|bin)\/.*\.(?:ts|tsx|js)$/.test(file))
  .filter((file) => !/\.test\.ts$|\/test\//.test(file))
  .map((file) => ({ file, code: textOf(file).replaceAll(/\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm, '') }))

/** Texts of these files are only for the operator: they leave through the terminal, the log, `doctor` and `/readyz`. */
const ofOperator = [
  'packages/server/src/access-document.ts',
  'packages/server/src/accounts/accounts.ts',
  'packages/server/src/audit/link.ts',
  'packages/server/src/cli/',
  'packages/server/src/connectors/definitions.ts',
  'packages/server/src/connectors/missing.ts',
  'packages/server/src/connectors/packages/',
  'packages/server/src/db/backup/load.ts',
  'packages/server/src/db/readiness.ts',
  'packages/server/src/embedded/cluster.ts',
  'packages/server/src/organizations/credentials.ts',
  'packages/server/src/organizations/limits.ts',
  'packages/server/src/transfers/operator.ts',
  'packages/server/src/transfers/restored.ts',
  'packages/server/src/users/operator.ts',
]
/** These files write to the terminal themselves, and name no command there. */
const writers = [
  'packages/server/bin/penstock.js',
  'packages/server/bin/start.js',
  'packages/server/src/cli/configuration.ts',
  'packages/server/src/cli/connector.ts',
  'packages/server/src/cli/import-document.ts',
  'packages/server/src/cli/import-source.ts',
  'packages/server/src/cli/oauth-app.ts',
  'packages/server/src/cli/print.ts',
  'packages/server/src/cli/runtime.ts',
  'packages/server/src/cli/serve.ts',
  'packages/server/src/cli/version.ts',
  'packages/server/src/embedded/binaries.ts',
]

test('no text runs the package penstock of npm, which is of someone else', () => {
  assert(files.length > 500)
  const wrong = files
    .filter((file) => /\.(?:md|ts|tsx|js|mjs|json|ya?ml|tpl|txt|sh|service|env)$|Dockerfile|deploy\//.test(file))
    .filter((file) => file !== 'test/hints.test.ts' && file !== place)
    .filter((file) => /np(?:x|m exec|m install|m i)(?: -\S+)* penstock(?![\w-])/.test(textOf(file)))
  assert.deepEqual(wrong, [])
})

test('only texts for the operator name a command as it is typed; other texts name the command', () => {
  assert(programs.length > 500)
  const command = new RegExp(`\\bpenstock (?:${names.join('|')})\\b`)
  const typing = programs
    .filter(({ code }) => command.test(code.replaceAll("'penstock mcp'", '').replaceAll("'penstock user '", '')))
    .map(({ file }) => file)
  assert.deepEqual(
    typing.filter((file) => !ofOperator.some((own) => file.startsWith(own))),
    [],
  )
  // A file that names no command any more leaves the list.
  assert.deepEqual(
    ofOperator.filter((own) => !typing.some((file) => file.startsWith(own))),
    [],
  )
  const fixed = programs.filter(({ code }) => code.includes('penstock-server ')).map(({ file }) => file)
  assert.deepEqual(fixed, [])
})

test('what is written to the terminal passes where commands become typed ones', () => {
  const writing = programs.filter(({ code }) => /process\.std(?:out|err)\.write|console\.\w+\(/.test(code))
  assert.deepEqual(
    writing.map(({ file }) => file).filter((file) => /^packages\/server\//.test(file) && !writers.includes(file)),
    ['packages/server/src/runners/runner-user.ts'],
    'the last one is a program for a child process',
  )
})

describe('a hint names the command of the deployment', () => {
  const kept = process.env.PENSTOCK_COMMAND
  after(() => {
    if (kept === undefined) delete process.env.PENSTOCK_COMMAND
    else process.env.PENSTOCK_COMMAND = kept
  })

  test('for every command', () => {
    assert(names.length > 15)
    delete process.env.PENSTOCK_COMMAND
    for (const name of names) assert.equal(asTyped(`Run penstock ${name}.`), `Run npx penstock-server ${name}.`)
    process.env.PENSTOCK_COMMAND = 'docker compose exec api penstock'
    assert.equal(
      asTyped('To resume: penstock schedules resume'),
      'To resume: docker compose exec api penstock schedules resume',
    )
  })

  test('in the log, in its message and in its fields', () => {
    process.env.PENSTOCK_COMMAND = 'sudo -u "penstock" penstock'
    const lines: string[] = []
    const log = createLogger('info', { write: (text) => void lines.push(text) })
    log.error({ reason: 'run penstock doctor', err: new Error('run penstock migrate') }, 'run penstock audit verify')
    const { msg, reason, err } = JSON.parse(lines.join(''))
    assert.deepEqual(
      [msg, reason, err.message],
      ['audit verify', 'doctor', 'migrate'].map((name) => `run sudo -u "penstock" penstock ${name}`),
    )
  })
})

describe('in a container', () => {
  const id = 'f00dfeedbeef'
  const whole = `${id}${'0123456789abcdef'.repeat(4)}`.slice(0, 64)
  const inContainer = (mounts: string, args: string[], pid = 1, ppid = 0): PrintingProcess => ({
    env: { PENSTOCK_COMMAND: 'docker exec CONTAINER penstock' },
    pid,
    ppid,
    args,
    mounts: () => mounts,
  })
  const docker = `812 799 254:1 /docker/containers/${whole}/resolv.conf /etc/resolv.conf rw - ext4 /dev/vda1 rw`
  const podman = `93 71 0:24 /containers/overlay-containers/${whole}/userdata/hostname /etc/hostname rw - tmpfs tmpfs rw`

  for (const [engine, mounts] of Object.entries({ docker, podman })) {
    test(`of ${engine}, hints of the service name the container that runs`, () => {
      for (const args of [[], ['serve'], ['worker']])
        assert.equal(ownCommand(inContainer(mounts, args)), `docker exec ${id} penstock`)
      assert.equal(ownCommand(inContainer(mounts, ['org', 'list'], 37, 0)), `docker exec ${id} penstock`)
    })
  }

  test('that ends with its command, or whose ID is not known, hints do not name it', () => {
    const general = 'docker exec CONTAINER penstock'
    assert.equal(ownCommand(inContainer(docker, ['org', 'list'])), general)
    assert.equal(ownCommand(inContainer(docker, ['org', 'list'], 7, 1)), general)
    assert.equal(ownCommand(inContainer('22 1 0:20 / / rw - overlay overlay rw', ['serve'])), general)
  })
})
