// A source of the Airbyte protocol that tries to read what is not its own. Its check fails, and says what it got.
import { spawnSync } from 'node:child_process'
import { openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'

const [command, ...rest] = process.argv.slice(2)
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
// Not written out, since this file can be in a temporary folder itself.
const canary = ['canary', 'of', 'others'].join('-')
const got = new Set()
const attempt = (name, act) => {
  try {
    if (act()) got.add(name)
  } catch {
    // It is kept from that.
  }
}
const has = (path) => readFileSync(path).includes(canary)
const hasQuietly = (path) => {
  try {
    return has(path)
  } catch {
    return false
  }
}
/** The files in a folder and in all below it that can be listed. */
const filesIn = (folder, depth = 0) => {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((one) => {
      const path = `${folder}/${one.name}`
      return one.isDirectory() && depth < 4 && one.name !== 'node_modules'
        ? filesIn(path, depth + 1)
        : one.isFile()
          ? [path]
          : []
    })
  } catch {
    return []
  }
}
/** Whether the process can be traced, which reads and changes its memory; it is not stopped (PTRACE_SEIZE). */
const traces = (pid) =>
  spawnSync('/usr/bin/python3', [
    '-c',
    `import ctypes; raise SystemExit(ctypes.CDLL(None).ptrace(0x4206, ${pid}, None, None) != 0)`,
  ]).status === 0
const contains = (path) => readFileSync(path).length > 0

if (command === 'spec') {
  const properties = { targets: { type: 'string', airbyte_secret: true } }
  say({ type: 'SPEC', spec: { connectionSpecification: { type: 'object', properties } } })
} else {
  const { targets } = JSON.parse(readFileSync(rest[rest.indexOf('--config') + 1], 'utf8'))
  const { masterKey, dataDirectory, otherConfig, service, socket, others, waits } = JSON.parse(targets)
  if (waits) setInterval(() => {}, 1_000)
  else {
    attempt('master key', () => contains(masterKey))
    attempt('data directory', () => readdirSync(dataDirectory).length > 0)
    attempt('change of data', () => writeFileSync(`${dataDirectory}/made-by-a-program`, 'x') === undefined)
    attempt('configuration of another job', () => has(otherConfig))
    attempt('own environment', () => JSON.stringify(process.env).includes(canary))
    for (const [name, pid] of [['the service', service], ...others.map((pid) => ['another job', pid])]) {
      attempt(`environment of ${name}`, () => contains(`/proc/${pid}/environ`))
      attempt(`memory of ${name}`, () => contains(`/proc/${pid}/maps`))
      attempt(`change of memory of ${name}`, () => openSync(`/proc/${pid}/mem`, 'r+') > 0)
      attempt(`trace of ${name}`, () => traces(pid))
      attempt(`files of ${name}`, () => readdirSync(`/proc/${pid}/root${dataDirectory}`).length > 0)
      attempt(`descriptors of ${name}`, () => readlinkSync(`/proc/${pid}/fd/1`) !== '')
      attempt(`signals to ${name}`, () => process.kill(pid, 0))
    }
    for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one) && one !== String(process.pid)))
      attempt('any environment', () => has(`/proc/${name}/environ`))
    for (const folder of ['/tmp', '/var/tmp', '/dev/shm'])
      attempt('temporary files', () =>
        filesIn(folder).some((file) => !file.startsWith(process.cwd()) && hasQuietly(file)),
      )
    const reached = (options) =>
      new Promise((resolve) => {
        const connection = connect(options)
        connection.on('connect', () => resolve(true)).on('error', () => resolve(false))
      })
    if (await reached({ path: socket })) got.add('socket of PostgreSQL')
    const message = `got: ${[...got].join(', ') || 'nothing'}`
    say({ type: 'CONNECTION_STATUS', connectionStatus: { status: 'FAILED', message } })
    process.exitCode = 0
    setImmediate(() => process.exit(0))
  }
}
