import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { compileProgram } from '../packages/server/src/places.ts'
import { isAlive } from './harness/children.ts'
import { until } from './harness/until.ts'

const guard = join(import.meta.dirname, '../packages/engine/src/orphan-guard.ts')

/** A process that starts another one, which blocks for ever, and prints its process id. */
const parent = `
  const { spawn } = require('node:child_process')
  const busy = "import(" + ${JSON.stringify(JSON.stringify(`file://${guard}`))} + ").then(({ guardAgainstOrphanhood }) => {" +
    "guardAgainstOrphanhood(); setTimeout(() => { process.stdout.write('busy\\\\n', () => { for (;;); }) }, 300) })"
  const child = spawn(process.execPath, ['-e', busy], { stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.once('data', () => process.stdout.write(child.pid + '\\n'))
`

test('a runner that does not respond ends with its supervisor', async (t) => {
  const supervisor = spawn(process.execPath, ['-e', parent], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [text] = await once(supervisor.stdout.setEncoding('utf8'), 'data')
  const pid = Number(text)
  t.after(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  assert(pid > 0 && isAlive(pid))
  supervisor.kill('SIGKILL')
  await until('the runner has ended', () => !isAlive(pid))
})

test('the compilation of what runners load ends with the service that started it', async (t) => {
  const compiled = await mkdtemp(join(tmpdir(), 'penstock-compiled-'))
  t.after(() => rm(compiled, { recursive: true, force: true }))
  const starts = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, [${JSON.stringify(compileProgram)}, process.pid], { stdio: 'ignore' })
    process.stdout.write(child.pid + '\\n')
  `
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled }
  const service = spawn(process.execPath, ['-e', starts], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const [text] = await once(service.stdout.setEncoding('utf8'), 'data')
  const pid = Number(text)
  t.after(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  service.kill('SIGKILL')
  await until('the compilation has ended', () => !isAlive(pid))
  assert(!existsSync(join(compiled, 'runners')), 'it ended before it was done')
})
