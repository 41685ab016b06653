import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, statSync, watch } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  type Chunk,
  type Connector,
  type ConnectorContext,
  ConnectorError,
  defineConnector,
  type Json,
  type Values,
} from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { specOf } from './airbyte.ts'
import { definitionOfProgram, type Program } from './definition-of-program.ts'
import { formOf, formOfTap } from './form.ts'
import { programConnector } from './program-connector.ts'

/** Programs of the Airbyte protocol and taps of Singer, with the habits of real ones. */

const programs = join(import.meta.dirname, '../../test/programs')
const command = [process.execPath, join(programs, 'airbyte-source.js')]
const skip = process.platform === 'win32' && 'programs are run by a shell of POSIX'
let airbyte: Connector
let folder: string

const connectorOf = (program: Program): Connector =>
  programConnector(defineConnector(definitionOfProgram(program, { slug: 'acme-program', name: 'Acme' })), program)

before(async () => {
  if (skip) return
  folder = await mkdtemp(join(tmpdir(), 'penstock-test-programs-'))
  const form = formOf(await specOf({ command, config: () => ({}), signal: AbortSignal.timeout(30_000) }))
  airbyte = connectorOf({ protocol: 'airbyte', command, form })
})
after(() => rm(folder, { recursive: true, force: true }))

type Given = {
  secrets?: Values
  settings?: Values
  cursor?: Json
  after?: Json
  signal?: AbortSignal
  chunks?: Chunk[]
  saveSecret?: ConnectorContext['saveSecret']
  log?: ConnectorContext['log']
  onChunk?: () => void
  connector?: Connector
}

async function read({
  secrets = {},
  settings = {},
  cursor,
  after,
  signal,
  chunks = [],
  saveSecret,
  log,
  onChunk = () => {},
  connector = airbyte,
}: Given): Promise<Chunk[]> {
  const context = testContext({
    secrets: { api_token: 'right', rows: 10, ...secrets },
    settings: { stream: 'people', mode: 'Everything', ...settings },
    ...(signal ? { signal } : {}),
    ...(saveSecret ? { saveSecret } : {}),
    ...(log ? { log } : {}),
    ...(cursor === undefined ? {} : { cursor }),
  })
  assert(connector.source?.open)
  const reader = await connector.source.open(context)
  try {
    for await (const chunk of reader.read(after)) {
      chunks.push(chunk)
      onChunk()
    }
  } finally {
    await reader.close()
  }
  return chunks
}
const ids = (chunks: readonly Chunk[]) => chunks.flatMap(({ rows }) => rows.map(([id]) => id))
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at)
const code =
  (expected: string, message = /./) =>
  (error: unknown) =>
    error instanceof ConnectorError && error.code === expected && message.test(error.message)
const leftovers = () => globSync(join(tmpdir(), 'penstock-program-*'))

/** Whether a process is running. A process that has ended, but that its parent has not waited for, is not. */
function isAlive(pid: string): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('a program of the Airbyte protocol', { skip }, () => {
  test('has a form of its specification, in its order, with sealed secrets', () => {
    const { secrets } = airbyte
    assert.deepEqual(Object.keys(secrets), ['api_token', 'rows', 'habit', 'region', 'options', 'login', 'marker'])
    const types = Object.values(secrets).map(({ type }) => type)
    assert.deepEqual(types, ['Password', 'Number', 'Text', 'Select', 'Text', 'Password', 'Text'])
    assert.equal(secrets.habit?.description, 'A bad habit')
    assert.deepEqual(secrets.habit?.binds, ['api_token', 'login'])
    assert.equal(secrets.rows?.required, false)
  })

  test('checks, and says what the program says without its secret being needed', async () => {
    assert(airbyte.check)
    const [right] = await airbyte.check(testContext({ secrets: { api_token: 'right' } }))
    assert.equal(right?.ok, true)
    const [wrong] = await airbyte.check(testContext({ secrets: { api_token: 'wrong' } }))
    assert.equal(wrong?.ok, false)
    assert.equal(wrong?.code, 'invalid_setting')
    const [bad] = await airbyte
      .check(testContext({ secrets: { api_token: 'right', options: '{' } }))
      .catch((error) => [error])
    assert.match(bad.message, /options must be JSON/)
  })

  test('reads all rows: nested ones as JSON, whole numbers with all digits, and nothing that the schema does not have', async () => {
    const chunks = await read({ secrets: { habit: 'big', rows: 2_500 } })
    assert.deepEqual(ids(chunks), upTo(2_500))
    assert.deepEqual(chunks[0]?.columns, ['id', 'name', 'tags', 'big'])
    assert.deepEqual(chunks[0]?.rows[0], [1, 'n1', '["a",1]', '12345678901234567890'])
    assert.deepEqual(ids(await read({ settings: { stream: 'public.plain' } })), upTo(10))
  })

  test('has its lines in the log of the transfer, apart from details', async () => {
    const lines: string[] = []
    await read({ log: (line) => lines.push(line) })
    assert.deepEqual(lines.sort(), ['A warning of Python', 'Reads with right.'])
  })

  test('keeps the secrets that the program replaces, before its next row, and nothing else', async () => {
    const saved: Record<string, string> = {}
    const saveSecret = async (key: string, renew: (current: string) => Promise<string>) => {
      saved[key] = await renew('right')
      return saved[key]
    }
    const secrets = { habit: 'renews', login: '{"secret_key":"a"}' }
    await read({ secrets, saveSecret, onChunk: () => assert.equal(saved.api_token, 'second-token') })
    assert.deepEqual(saved, { api_token: 'second-token', login: '{"secret_key":"a","used":true}' })
  })

  test('continues after any chunk, and begins the next transfer at its last state', async () => {
    const settings = { mode: 'New rows' }
    const chunks = await read({ settings })
    assert.deepEqual(ids(chunks), upTo(10))
    for (const [at, chunk] of chunks.entries()) {
      const rest = await read({ settings, after: chunk.checkpoint })
      assert.deepEqual(ids(rest), ids(chunks.slice(at + 1)))
    }
    const cursor = chunks.at(-1)?.cursor
    assert.deepEqual(ids(await read({ settings, cursor: cursor as Json })), [])
    assert.deepEqual(ids(await read({ settings, cursor: cursor as Json, secrets: { rows: 13 } })), [11, 12, 13])
    const whole = await read({ secrets: { rows: 2_500 } })
    assert.deepEqual(
      ids(await read({ secrets: { rows: 2_500 }, after: whole[0]?.checkpoint as Json })),
      upTo(2_500, 1_001),
    )
  })

  test('does not continue among rows that are others than before', async () => {
    const secrets = { rows: 2_500, habit: 'changes' }
    const [first] = await read({ secrets })
    await assert.rejects(read({ secrets, after: first?.checkpoint as Json }), code('source_changed'))
  })

  test('keeps what it read before it failed, with its state', async () => {
    const chunks: Chunk[] = []
    const reading = read({ secrets: { habit: 'dies' }, settings: { mode: 'New rows' }, chunks })
    await assert.rejects(reading, code('platform_unavailable', /^The platform is tired\.$/))
    assert.deepEqual(ids(chunks), upTo(6))
    assert.match(String(chunks.at(-1)?.cursor), /"id":4/)
    await assert.rejects(read({ secrets: { habit: 'config' } }), code('invalid_setting', /no such report/))
  })

  test('has its numbers that JSON lacks read as null, and texts as they are', async () => {
    const chunks = await read({ secrets: { habit: 'python', rows: 8 } })
    assert.deepEqual(
      chunks.flatMap(({ rows }) => rows.map(([id, name, , big]) => [id, name, big])),
      upTo(8).map((id) => [id, 'NaN "Infinity', null]),
    )
  })

  const cuts: readonly [habit: string, mode: string, message: RegExp][] = [
    ['cut', 'Everything', /not valid JSON: its output is damaged or cut off/],
    ['unfinished', 'Everything', /did not report the stream as complete/],
    ['no last state', 'New rows', /without a state after its last 2 records/],
    ['lost', 'Everything', /gave 11 records since its last state, and 10 came/],
    ['last words', 'Everything', /^Said late\.$/],
  ]
  for (const [habit, mode, message] of cuts) {
    test(`keeps its rows and fails if its output is not complete: ${habit}`, async () => {
      const chunks: Chunk[] = []
      const reading = read({ secrets: { habit }, settings: { mode }, chunks })
      await assert.rejects(reading, (error) => error instanceof ConnectorError && message.test(error.message))
      assert.deepEqual(ids(chunks), upTo(10))
    })
  }

  test('is refused a line without an end, a stream that it lacks or that has no shape, and new rows that it cannot find', async () => {
    await assert.rejects(read({ secrets: { habit: 'one long line' } }), code('row_too_large'))
    await assert.rejects(read({ settings: { stream: 'none' } }), code('invalid_setting', /no stream of this name/))
    await assert.rejects(read({ settings: { stream: 'shapeless' } }), code('invalid_setting', /which columns/))
    await assert.rejects(
      read({ settings: { stream: 'public.plain', mode: 'New rows' } }),
      code('invalid_setting', /what is new/),
    )
    const missing = connectorOf({ protocol: 'airbyte', command: ['/no/such/program'], form: formOfTap })
    await assert.rejects(read({ connector: missing }), code('connector_missing', /not on this machine/))
  })

  test('ends with all its processes and files when it is stopped, or has too many', async () => {
    const marker = join(folder, 'marker')
    const before = leftovers()
    const stop = new AbortController()
    const reading = read({
      secrets: { habit: 'silent', rows: 2_500, marker },
      signal: stop.signal,
      onChunk: () => stop.abort(),
    })
    await assert.rejects(reading)
    const [pid = '', config = '', env = ''] = readFileSync(marker, 'utf8').split(' ')
    assert.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' })
    assert.equal(existsSync(config), false)
    assert.deepEqual(Object.keys(JSON.parse(env)), ['PATH'])
    if (process.platform === 'linux')
      await assert.rejects(read({ secrets: { habit: 'forks' } }), code('platform_unavailable', /128 processes/))
    assert.deepEqual(leftovers(), before)
  })
})

test('a program ends with the process that reads it, whatever kills that, and leaves no file with its secrets', {
  skip,
}, async () => {
  const marker = join(folder, 'marker-of-killed')
  const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const config = JSON.stringify({ api_token: 'right', rows: 1, habit: 'silent', marker })
  const catalog = JSON.stringify({ streams: [{ stream: { name: 'people' }, sync_mode: 'full_refresh' }] })
  const files = { 'config.json': config, 'catalog.json': catalog }
  const args = [...command, 'read', '--config', '{config.json}', '--catalog', '{catalog.json}']
  const run = `{ command: ${JSON.stringify(args)}, files: ${JSON.stringify(files)}, signal: new AbortController().signal, silentMs: 60000 }`
  const script = `const { linesOf } = await import(${module('./program.ts')})
for await (const line of linesOf(${run})) if (line.includes('RECORD')) process.send('read')`
  const reader = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(reader, 'message')
  const [pid = '', file = ''] = readFileSync(marker, 'utf8').split(' ')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const removed = Promise.withResolvers<void>()
  const watcher = watch(dirname(dirname(file)), () => {
    if (!existsSync(dirname(file))) removed.resolve()
  })
  reader.kill('SIGKILL')
  await removed.promise
  watcher.close()
  // A killed process can need a turn of the processor to end.
  while (process.platform === 'linux' && isAlive(pid)) await setImmediate()
})

describe('a tap of Singer', { skip }, () => {
  for (const protocol of ['singer', 'singer with properties'] as const) {
    test(`${protocol}: reads all rows, and then only new ones`, async () => {
      const connector = connectorOf({
        protocol,
        command: [process.execPath, join(programs, 'tap.js')],
        form: formOfTap,
      })
      const config = (rows: number) => ({ config: JSON.stringify({ token: 'right', rows }) })
      const settings = { mode: 'New rows' }
      const chunks = await read({ connector, secrets: config(5), settings })
      assert.deepEqual(ids(chunks), upTo(5))
      const cursor = chunks.at(-1)?.cursor as Json
      assert.deepEqual(ids(await read({ connector, secrets: config(7), settings, cursor })), [6, 7])
      assert.deepEqual(ids(await read({ connector, secrets: config(7) })), upTo(7))
      const [refused] = (await connector.check?.(testContext({ secrets: { config: '{"token":"wrong"}' } }))) ?? []
      assert.match(refused?.message ?? '', /exit code 1.*The token is wrong/)
    })
  }
})
