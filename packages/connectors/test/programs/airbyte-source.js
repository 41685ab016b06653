// A source of the Airbyte protocol, as its documentation describes one, with as many bad habits as are asked for.
// Reads `people` (id, name, tags) with a cursor on id, and `plain` without one.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const [command, ...rest] = process.argv.slice(2)
const option = (name) => {
  const at = rest.indexOf(name)
  return at < 0 ? undefined : JSON.parse(readFileSync(rest[at + 1], 'utf8'))
}
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const log = (message) => say({ type: 'LOG', log: { level: 'INFO', message } })
const fail = (failure_type, message) =>
  say({ type: 'TRACE', trace: { type: 'ERROR', emitted_at: 1, error: { message, failure_type } } })

const schema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: ['null', 'string'] },
    tags: { type: 'array' },
    big: { type: 'integer' },
  },
}

if (command === 'spec') {
  console.log('Welcome to a banner')
  say({
    type: 'SPEC',
    spec: {
      connectionSpecification: {
        type: 'object',
        required: ['api_token', 'rows'],
        properties: {
          rows: { type: 'integer', title: 'Rows', minimum: 0, default: 5, order: 1 },
          api_token: { type: 'string', title: 'Token', airbyte_secret: true, order: 0 },
          habit: { type: 'string', description: 'A <b>bad</b> habit' },
          region: { type: 'string', enum: ['eu', 'us'], default: 'eu' },
          options: { type: 'object', properties: { a: { type: 'string' } } },
          login: { oneOf: [{ properties: { secret_key: { type: 'string', airbyte_secret: true } } }] },
          marker: { type: 'string' },
        },
      },
    },
  })
} else if (command === 'check') {
  const { api_token } = option('--config')
  log(`checking with ${api_token}`)
  const ok = api_token !== 'wrong'
  say({
    type: 'CONNECTION_STATUS',
    connectionStatus: ok ? { status: 'SUCCEEDED' } : { status: 'FAILED', message: `The token ${api_token} is wrong` },
  })
} else if (command === 'discover') {
  say({
    type: 'CATALOG',
    catalog: {
      streams: [
        {
          name: 'people',
          json_schema: schema,
          supported_sync_modes: ['full_refresh', 'incremental'],
          source_defined_cursor: true,
        },
        { name: 'plain', namespace: 'public', json_schema: schema, supported_sync_modes: ['full_refresh'] },
        { name: 'shapeless', json_schema: {}, supported_sync_modes: ['full_refresh'] },
      ],
    },
  })
} else if (command === 'read') read()
else process.exit(2)

function read() {
  const { rows, habit, marker, api_token, login } = option('--config')
  const { streams } = option('--catalog')
  const [{ stream, sync_mode }] = streams
  const [state] = option('--state') ?? []
  const begin = sync_mode === 'incremental' ? (state?.stream.stream_state.id ?? 0) : 0
  if (marker) writeFileSync(marker, `${process.pid} ${rest[1]} ${JSON.stringify(process.env)}`)
  console.log('Progress: 10 %')
  log(`Reads with ${api_token}\nand more`)
  say({ type: 'LOG', log: { level: 'DEBUG', message: 'a detail' } })
  process.stderr.write('A warning of Python\n')
  if (habit === 'renews') {
    const config = { ...option('--config'), api_token: 'second-token', login: { ...login, used: true }, region: 'us' }
    say({ type: 'CONTROL', control: { type: 'CONNECTOR_CONFIG', emitted_at: 1, connectorConfig: { config } } })
  }
  if (habit !== 'no last state')
    say({ type: 'TRACE', trace: { type: 'STREAM_STATUS', stream_status: { status: 'STARTED' } } })
  for (let id = begin + 1; id <= rows; id++) {
    const big =
      habit === 'big' ? '12345678901234567890' : habit === 'python' ? ['NaN', 'Infinity', '-Infinity'][id % 3] : id
    const name =
      habit === 'python' ? 'NaN "Infinity' : habit === 'changes' && id === 2 ? String(Math.random()) : `n${id}`
    const data = `{"id":${id},"name":${JSON.stringify(name)},"tags":["a",${id}],"big":${big},"unknown":1}`
    process.stdout.write(
      `{"type":"RECORD","record":{"stream":"${stream.name}","data":${data},"emitted_at":${Date.now()}}}\n`,
    )
    if (sync_mode === 'incremental' && id % 4 === 0) sayState(stream.name, id)
    if (habit === 'dies' && id === 6) {
      fail('transient_error', 'The platform is tired')
      process.exitCode = 1
      return
    }
  }
  if (sync_mode === 'incremental' && habit !== 'no last state') sayState(stream.name, rows)
  if (habit === 'cut') {
    // `process.exit` drops what is not written yet.
    process.stdout.write('{"type":"RECORD","record":{"stream":"people","da')
    return
  }
  if (habit === 'lost') {
    say({ type: 'STATE', state: { type: 'STREAM', stream: {}, sourceStats: { recordCount: rows + 1 } } })
    return
  }
  if (habit === 'last words') {
    // Its helper has the last word, after the program itself has ended.
    const last = JSON.stringify({
      type: 'TRACE',
      trace: { type: 'ERROR', error: { message: 'Said late', failure_type: 'config_error' } },
    })
    spawn('sh', ['-c', 'sleep 0.5; echo "$0"', last], { stdio: ['ignore', 'inherit', 'ignore'] }).unref()
    return
  }
  if (habit !== 'unfinished' && habit !== 'no last state')
    say({ type: 'TRACE', trace: { type: 'STREAM_STATUS', stream_status: { status: 'COMPLETE' } } })
  if (habit === 'config') {
    fail('config_error', 'The account has no such report')
    process.exitCode = 1
  }
  if (habit === 'one long line') process.stdout.write('x'.repeat(40 * 1024 ** 2))
  if (habit === 'silent') setInterval(() => {}, 1000)
  if (habit === 'forks') {
    // Each in a session of its own, which a group does not have.
    for (let i = 0; i < 200; i++) spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    setInterval(() => {}, 1000)
  }
}

function sayState(name, id) {
  const stream = { stream_descriptor: { name }, stream_state: { id } }
  say({ type: 'STATE', state: { type: 'STREAM', stream } })
}
