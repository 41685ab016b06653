/**
 * `npm run bench:hostile [-- --checkout ../before] [--only words]`: sends requests with texts that are slow on purpose, while a
 * client of another organization requests a page of accounts every 100 ms. For each: the time of the thread that answers, and the
 * slowest answer of that client. `--checkout` measures another version of the service, such as one before a change; `--only`
 * limits the run to requests with these words.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { basePath } from '@penstock/wire'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { startBystander } from '../test/harness/bystander.ts'
import { connectorBySlug, destination } from '../test/harness/fixtures.ts'
import { hostileTexts } from '../test/harness/hostile-texts.ts'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { startService } from './service.ts'

const { values: options } = parseArgs({
  options: { checkout: { type: 'string' }, only: { type: 'string', default: '' } },
})
const checkout = options.checkout ?? join(import.meta.dirname, '..')
/** A request that takes longer is cancelled. */
const patienceMs = 180_000

await using cleanup = cleanupOfRun()
const masterKey = generateMasterKey()
const environment = await startPostgres(cleanup)
const service = await startService(
  environment,
  'hostile',
  { accounts: 1, connectionsPerAccount: 1 },
  { PENSTOCK_LOG_LEVEL: 'error', PENSTOCK_MASTER_KEY: masterKey },
  checkout,
)
cleanup.defer(service.stop)
const bystander = await tokenOfAnother()
const accountId = service.loaded.accountIds[0] ?? ''
const httpApi = connectorBySlug('http-api')
await send('POST', `/connectors?accountId=${accountId}`, { connectorIds: [httpApi.id] })

const text = (kind: string, length: number) => hostileTexts[kind]?.(length) ?? ''
const definition = (write: string): Asked => [
  'POST',
  `/connectors/${httpApi.id}/configurations?accountId=${accountId}`,
  { name: 'a', secretConfig: { definition: write } },
]
const inStream = (part: object) => JSON.stringify({ streams: { a: { path: '/a', ...part } } })
const template = (mapping: string): Asked => [
  'POST',
  '/mapping-templates',
  { name: `n${Math.random()}`, accountId, destConnectorId: destination.id, mapping },
]
const wrong = JSON.stringify(Object.fromEntries(Array.from({ length: 330 }, (_, n) => [n, { expression: `cul${n}` }])))
const columns = Array.from({ length: 2_000 }, (_, n) => `col${n.toString(36)}`)
const applied = async (mapping: string, names: readonly string[]): Promise<Asked> => {
  const { statusCode, response } = (await send(...template(mapping))) as {
    statusCode: number
    response: { id: string }
  }
  if (statusCode !== 201) throw new Error(`The template is not created: ${JSON.stringify(response).slice(0, 500)}`)
  return ['POST', `/mapping-templates/${response.id}/apply`, { columns: names }]
}
type Asked = [method: string, path: string, body: unknown]
const body = (write: string): Asked => ['POST', '/accounts', write]
const million = 1_000_000
const asked: readonly (readonly [string, () => Asked | Promise<Asked>])[] = [
  ['Nothing', () => ['GET', '/accounts?size=1', undefined]],
  [
    'A definition of 64 KB: 30,000 keys',
    () =>
      definition(
        `a: {${Array.from({ length: 30_000 }, (_, n) => String.fromCharCode(0x4e00 + n)).join(',')}}`.slice(0, 65_000),
      ),
  ],
  ['… blank lines', () => definition(`a:${text('line breaks', 65_000)}b`)],
  ['… lines of spaces', () => definition(`a:${text('line breaks and spaces', 65_000)}b`)],
  ['… items in lines', () => definition(text('items in lines', 65_000))],
  ['… tags', () => definition(text('tags', 65_000))],
  ['… anchors and aliases', () => definition(text('anchors and aliases', 65_000))],
  ['… nested lists', () => definition(text('nested lists', 65_000))],
  ['… nested expressions', () => definition(inStream({ records: text('brackets', 30_000) }))],
  ['… a sum of 15,000 numbers', () => definition(inStream({ records: text('sum of an expression', 30_000) }))],
  ['… braces of templates', () => definition(inStream({ query: { q: text('templates', 60_000) } }))],
  ['A template of 330 wrong expressions, for 2,000 columns', () => applied(wrong, columns)],
  [
    'A template, for columns of combining marks',
    () =>
      applied(
        '{"email_sha256":"e"}',
        Array.from({ length: 50 }, (_, n) => text('marks out of order', 9_990) + n),
      ),
  ],
  ['A mapping of many fields', () => template(text('many fields of a mapping', 10_000))],
  [
    'Values of a person: combining marks',
    () => ['POST', '/data-subjects/find', { values: [text('marks out of order', 320)] }],
  ],
  ['A body of 1 MB: nested lists', () => body(text('nested lists', million))],
  ['… 60,000 keys', () => body(text('many keys of JSON', million))],
  ['… digits', () => body(`{"name":${text('digits', million)}}`)],
  ['… combining marks', () => body(JSON.stringify({ name: text('marks out of order', 300_000) }))],
  ['… spaces', () => body(JSON.stringify({ name: text('spaces', million) }))],
  [
    'An e-mail address of 250 characters',
    () => ['POST', '/users', { email: text('e-mail address of hyphens', 250), role: 'viewer' }],
  ],
  ['A logo of letters', () => ['PUT', '/organization/branding', { name: 'a', logo: text('base64', 87_000) }]],
]
const rows: [string, number, number, number, string][] = []
for (const [title, make] of asked.filter(([title]) => title.includes(options.only))) {
  const request = await make()
  const client = startBystander(service.url, bystander)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const before = await threadMs()
  const begun = performance.now()
  const answer = await send(...request).then(
    ({ statusCode }) => String(statusCode),
    (error: Error) => error.name,
  )
  const tookMs = performance.now() - begun
  const ofThread = (await threadMs()) - before
  await new Promise((resolve) => setTimeout(resolve, 500))
  const { mostMs } = await client.stop()
  rows.push([title, ofThread, Math.round(tookMs), mostMs, answer])
  process.stdout.write(`${rows.at(-1)?.join(' | ')}\n`)
}

async function send(method: string, path: string, value: unknown): Promise<{ statusCode: number; response: unknown }> {
  const answer = await fetch(service.url + basePath + path, {
    method,
    headers: {
      authorization: `Bearer ${service.token}`,
      ...(value === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(value === undefined ? {} : { body: typeof value === 'string' ? value : JSON.stringify(value) }),
    signal: AbortSignal.timeout(patienceMs),
  })
  return (await answer.json()) as { statusCode: number; response: unknown }
}

/** The processor time of the main thread of the service, in milliseconds; Linux counts it in hundredths of a second. */
async function threadMs(): Promise<number> {
  const fields =
    (await readFile(`/proc/${service.pid}/task/${service.pid}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** A token of another organization. */
async function tokenOfAnother(): Promise<string> {
  const create = ['org', 'create', '--name', 'Other', '--owner-email', 'o@example.com', '--json']
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: service.databaseUrl,
    PENSTOCK_MASTER_KEY: masterKey,
    PENSTOCK_DATA_DIR: join(environment.directory, 'hostile'),
  }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(checkout, 'packages/server/bin/penstock.js'), ...create],
    { env },
  )
  const { clientId, clientSecret } = JSON.parse(stdout) as { clientId: string; clientSecret: string }
  const answer = await fetch(`${service.url}${basePath}/oauth/client-token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, clientSecret }),
  })
  return ((await answer.json()) as { accessToken: string }).accessToken
}
