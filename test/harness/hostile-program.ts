/**
 * Runs as the user that the service would have: adds the hostile program, runs it next to a job of another tenant, and prints
 * what it could access. Arguments: the folder for all files, and the program. The environment is the service's environment.
 */
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { readConfig } from '../../packages/server/src/config.ts'
import { addProgram } from '../../packages/server/src/connectors/packages/add-program.ts'
import { createLogger } from '../../packages/server/src/log.ts'
import { runnerOptions } from '../../packages/server/src/runners/options.ts'
import { createRunnerPool } from '../../packages/server/src/runners/runner-pool.ts'
import { until } from './until.ts'

const [base = '', program = ''] = process.argv.slice(2)
// Not written out, since this file can be in a temporary folder itself.
const canary = ['canary', 'of', 'others'].join('-')
const dataDirectory = join(base, 'data')
const masterKey = join(dataDirectory, 'master.key')
const socket = join(dataDirectory, 'socket')
mkdirSync(dataDirectory, { mode: 0o700 })
writeFileSync(masterKey, canary, { mode: 0o600 })
const server = createServer().listen(socket)
await once(server, 'listening')

const config = readConfig({
  ...process.env,
  PENSTOCK_DATA_DIR: dataDirectory,
  PENSTOCK_CONNECTORS_DIR: join(base, 'connectors'),
})
const added = await addProgram(config, {
  protocol: 'airbyte',
  command: `${process.execPath} ${program}`,
  slug: 'acme-hostile',
  name: 'Acme Hostile',
}).catch((error: Error) => error)
if (added instanceof Error) {
  process.stdout.write(`refused: ${added.message}`)
} else {
  const options = runnerOptions(config)
  const pool = createRunnerPool({ ...options, spare: false }, createLogger('silent'))
  const check = (owner: string, targets: object, signal: AbortSignal) =>
    pool.run(
      {
        kind: 'check',
        deadlineMs: 120_000,
        connector: { slug: 'acme-hostile', secrets: { targets: JSON.stringify(targets) }, settings: {} },
      },
      { owner, watch: { deadlineMs: 120_000 }, signal },
    )
  const stop = new AbortController()
  const victim = check('a', { waits: true, canary }, stop.signal).catch(() => {})
  await until('the other job runs', () => programsOf(program).length > 0)
  const others = programsOf(program)
  const [first] = others
  const targets = { masterKey, dataDirectory, socket, service: process.pid, others: others.map(({ pid }) => pid) }
  const result = await check('b', { ...targets, otherConfig: first?.config }, new AbortController().signal)
  process.stdout.write(JSON.stringify(result))
  stop.abort()
  await pool.close()
  await victim
}
server.close()

/** The processes that have the program among their arguments, with the file of their configuration. */
function programsOf(file: string): { pid: number; config: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
      const at = words.indexOf('--config')
      return words.includes(file) && at > 0 ? [{ pid: Number(name), config: words[at + 1] ?? '' }] : []
    } catch {
      return []
    }
  })
}
