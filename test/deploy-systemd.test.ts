import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { readConfig } from '../packages/server/src/config.ts'
import { findProgram, skipWithout } from './harness/programs.ts'

/** The units of systemd are valid, hardened, and agree with the settings of the service. */

const run = promisify(execFile)
const folder = join(import.meta.dirname, '../deploy/systemd')
const units = ['penstock-api@.service', 'penstock-worker@.service']
const analyze = findProgram('systemd-analyze') ?? 'systemd-analyze'
const skip = skipWithout('systemd-analyze')
/** As `systemd-analyze security` counts, in tenths: 0 is hardened completely. It must reach the network. */
const exposureMax = 15

const copies = await mkdtemp(join(tmpdir(), 'penstock-units-'))
after(() => rm(copies, { recursive: true }))
// The program of the installation is not on this machine.
for (const unit of units) {
  const text = await readFile(join(folder, unit), 'utf8')
  await writeFile(join(copies, unit), text.replace('/opt/penstock/node_modules/.bin/node', process.execPath))
}
const files = units.map((unit) => join(copies, unit))

test('systemd-analyze accepts the units, and finds them hardened', { skip }, async () => {
  const { stdout, stderr } = await run(analyze, ['verify', '--man=no', ...files])
  assert.equal(`${stdout}${stderr}`, '')
  const threshold = `--threshold=${exposureMax}`
  await run(analyze, ['security', '--no-pager', '--offline=true', threshold, ...files])
})

test('both units have the same hardening, and the program and the commands are those of the folder', async () => {
  const [api = '', worker = ''] = await Promise.all(units.map((unit) => readFile(join(folder, unit), 'utf8')))
  const hardening = (unit: string) => unit.slice(unit.indexOf('# Nothing of the machine'))
  assert.equal(hardening(api), hardening(worker))
  assert.match(hardening(api), /ProtectSystem=strict\n/)
  const started = [api, worker].map(
    (unit) => /^ExecStart=(?:\/usr\/bin\/env \S+=\S+ \S+=\S+ )?(.*) (\w+)$/m.exec(unit)?.slice(1) ?? [],
  )
  // An environment file would override Environment=, and every instance would listen on the same port.
  assert.match(api, /^ExecStart=\/usr\/bin\/env PENSTOCK_PORT=%i PENSTOCK_WORKER=0 /m)
  assert.deepEqual(
    started.map(([, command]) => command),
    ['serve', 'worker'],
  )
  const command = await readFile(join(folder, 'penstock'), 'utf8')
  assert(command.includes(`${started[0]?.[0]} "$@"`) && started[0]?.[0] === started[1]?.[0])
})

test('the environment file has settings that the service accepts, and those that are commented out, too', async () => {
  const text = await readFile(join(folder, 'penstock.env'), 'utf8')
  const settings = Object.fromEntries(
    [...text.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value.replaceAll("'", '')]),
  )
  assert(Object.keys(settings).length >= 10)
  const secrets = {
    DATABASE_URL_FILE: 'postgres://penstock:secret@127.0.0.1/penstock',
    PENSTOCK_SMTP_URL_FILE: 'smtps://mail.example.com',
  }
  const key = Buffer.alloc(32, 1).toString('base64')
  for (const [name, value] of Object.entries({ ...secrets, PENSTOCK_MASTER_KEY_FILE: key })) {
    assert(settings[name]?.startsWith('/etc/penstock/'), name)
    const file = join(copies, name)
    await writeFile(file, value)
    settings[name] = file
  }
  const config = readConfig(settings)
  assert.equal(config.publicUrl, 'https://penstock.example.com')
  assert.equal(config.host, '127.0.0.1')
})

test('a process that stops has the time to drain and to answer before systemd kills it', async () => {
  const unit = await readFile(join(folder, 'penstock-api@.service'), 'utf8')
  const settings = await readFile(join(folder, 'penstock.env'), 'utf8')
  const seconds = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? assert.fail(`${pattern}`))
  const drain = seconds(settings, /^PENSTOCK_DRAIN_SECONDS=(\d+)$/m)
  // Caddy looks every second.
  assert(drain >= 3)
  assert(seconds(unit, /^TimeoutStopSec=(\d+)$/m) >= drain + 40)
})

test('penstock-restart restarts each process when the one before is ready, and stops at one that is not', async (t) => {
  const work = await mkdtemp(join(tmpdir(), 'penstock-restart-'))
  t.after(() => rm(work, { recursive: true }))
  const script = async (name: string, text: string) => {
    await writeFile(join(work, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(work, name), 0o755)
  }
  await script('sleep', 'exit 0')
  await script(
    'systemctl',
    `echo "$@" >> ${work}/calls
case $1 in list-units) echo 'penstock-api@8080.service loaded active running'; echo 'penstock-api@8081.service loaded active running';; esac`,
  )
  // The first process is ready at the third look. The process on port 9 is never ready.
  await script(
    'curl',
    `case "$*" in *:9/readyz) exit 7;; *:8080/readyz) echo look >> ${work}/looks; [ "$(wc -l < ${work}/looks)" -ge 3 ];; esac`,
  )
  const env = { ...process.env, PATH: `${work}:${process.env.PATH}` }
  const restart = (...ports: string[]) => run('sh', [join(folder, 'penstock-restart'), ...ports], { env })
  await restart()
  const calls = async () => (await readFile(join(work, 'calls'), 'utf8')).trim().split('\n').slice(-3)
  assert.deepEqual(await calls(), [
    'restart penstock-api@8080',
    'restart penstock-api@8081',
    'restart penstock-worker@*',
  ])
  await assert.rejects(restart('9', '8081'), /penstock-api@9 is not ready/)
  assert.equal((await calls()).at(-1), 'restart penstock-api@9')
})
