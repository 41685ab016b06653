import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { DestinationTrial } from '@penstock/wire'
import { apiToken, startDescribedApi } from '../packages/connectors/test/described-api.ts'
import { type Ended, prepareStage } from './harness/process.ts'

/** `penstock connector try`: rows at a destination that a file describes, without a service. */

const definition = `operations:
  upsert:
    path: /by-index
    batch: { rows: 10 }
    columns: { email: { type: text, required: true }, spent: number }
    body: { people: "{{ rows }}" }
    result: { rows: { at: errors, index: entry.index, reason: "{{ entry.type }}" } }
`
const rows = [{ email: 'a@example.com', spent: 12345678901234.5 }, { email: 'nobody' }, { spent: 1 }]

const api = await startDescribedApi()
after(() => api.close())
const stage = await prepareStage({ after })

const file = async (name: string, content: unknown) => {
  const path = join(stage.base, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
type Given = { url?: string; definition?: string; rows?: unknown; args?: readonly string[]; token?: string }
const tried = async (given: Given = {}): Promise<Ended> => {
  const described = await file('definition.yaml', given.definition ?? definition)
  const ended = await stage.penstock(
    [
      ...['connector', 'try', described, '--rows', await file('rows.json', given.rows ?? rows)],
      ...['--operation', 'upsert', '--value', `url=${given.url ?? `${api.url}/v1`}`],
      ...(given.args ?? ['--value', 'authentication=bearer token', '--secret', 'apiToken=env:API_TOKEN']),
    ],
    { env: { API_TOKEN: given.token ?? apiToken } },
  )
  assert.doesNotMatch(ended.stdout + ended.stderr, /canary/)
  return ended
}

describe('rows of a file', () => {
  test('reach the API: each request, its answer and the result of each row are printed', async () => {
    api.reset()
    const { code, stdout, stderr } = await tried()
    assert.equal(stderr, '')
    assert.equal(code, 1, 'a row was not accepted')
    const lines = stdout.replace(/\d+ ms/g, '… ms').split('\n')
    assert.deepEqual(lines.slice(0, 4), [
      `Request 1: POST ${api.url}/v1/by-index`,
      '{"people":[{"email":"a@example.com","spent":12345678901234.5},{"email":"nobody"}]}',
      'Response 1: 201, … ms',
      '{"message":"success","errors":[{"index":1,"type":"no address: nobody","path":"email"}]}',
    ])
    assert.match(stdout, /\nRow 1: accepted\nRow 2: rejected\. .*no address.*\nRow 3: rejected\. .*email.*\n/)
    assert.deepEqual([...api.people.keys()], ['a@example.com'])
  })

  test('as JSON, for programs', async () => {
    const { code, stdout } = await tried({
      rows: [{ email: 'a@example.com' }],
      args: [
        '--value',
        'authentication=bearer token',
        '--secret',
        `apiToken=file:${await file('token', `${apiToken}\n`)}`,
        '--json',
      ],
    })
    assert.equal(code, 0)
    const { exchanges, rows: results } = JSON.parse(stdout) as DestinationTrial
    assert.deepEqual([exchanges.length, results], [1, [{ state: 'accepted', reason: null }]])
  })

  test('are not sent if something is wrong: every message names the file or the option', async () => {
    api.reset()
    const refused = async (given: Given, message: RegExp) => {
      const { code, stdout, stderr } = await tried(given)
      assert.deepEqual([code, stdout], [2, ''], stderr)
      assert.match(stderr, message)
    }
    await refused(
      { definition: definition.replace('index: entry', 'index: nothing') },
      /definition\.yaml is wrong at line 7, column \d+: /,
    )
    await refused({ rows: [] }, /rows\.json must be a JSON list of 1 to 3 rows/)
    await refused({ rows: 'email\n', args: ['--secret', 'apiToken=canary-in-an-argument'] }, /must be a JSON list/)
    await refused(
      { args: ['--secret', 'apiToken=canary-in-an-argument'] },
      /--secret apiToken: write apiToken=env:NAME/,
    )
    await refused(
      { args: ['--secret', 'apiToken=env:API_TOKEN'] },
      /--secret apiToken is not used with the authentication none/,
    )
    assert.equal(api.people.size, 0)
  })
})

describe('a hostile server', () => {
  const controls = '\u001b]0;owned\u0007\u009b31m\u202e'
  const answers: Readonly<Record<string, (request: http.IncomingMessage, response: http.ServerResponse) => void>> = {
    '/escapes': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${controls}</p>`),
    '/echo': ({ headers }, response) =>
      response.writeHead(401).end(JSON.stringify({ [String(headers.authorization)]: headers })),
  }
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => answers[String(request.url)]?.(request, response))
  })
  let url: string
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  for (const path of Object.keys(answers)) {
    test(`${path}: the command ends, says what was answered, and prints neither secrets nor control characters`, async () => {
      const { code, stdout, stderr } = await tried({
        url,
        definition: definition.replace('/by-index', path),
        rows: [{ email: 'a@example.com' }],
      })
      assert.ok(code === 0 || code === 1, stderr)
      assert.doesNotMatch(stdout + stderr, /[^\P{Cc}\n]|\p{Cf}/u)
      assert.match(stdout, /Request 1: POST/)
      assert.ok(stdout.length < 10_000, 'what is printed is bounded')
      if (path === '/escapes') assert.match(stdout, /\\u001b\]0;owned/)
    })
  }
})
