// A tap of Singer, as its specification describes one.
import { readFileSync } from 'node:fs'

const args = process.argv.slice(2)
const option = (name) => {
  const at = args.indexOf(name)
  return at < 0 ? undefined : JSON.parse(readFileSync(args[at + 1], 'utf8'))
}
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const config = option('--config')
const schema = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } }

if (config.token === 'wrong') {
  process.stderr.write('CRITICAL The token is wrong\n')
  process.exit(1)
}
if (args.includes('--discover')) {
  const streams = [{ tap_stream_id: 'people', stream: 'people', schema, metadata: [{ breadcrumb: [], metadata: {} }] }]
  process.stdout.write(`${JSON.stringify({ streams }, null, 2)}\n`)
} else {
  const { streams } = option('--catalog') ?? option('--properties')
  const [{ metadata }] = streams
  const [{ metadata: own }] = metadata
  if (!own.selected) process.exit(0)
  const begin = option('--state')?.bookmarks.people.id ?? 0
  say({ type: 'SCHEMA', stream: 'people', schema, key_properties: ['id'] })
  for (let id = begin + 1; id <= config.rows; id++)
    say({ type: 'RECORD', stream: 'people', record: { id, name: `n${id}` } })
  say({ type: 'STATE', value: { bookmarks: { people: { id: config.rows } } } })
}
