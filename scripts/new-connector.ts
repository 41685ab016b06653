/**
 * `npm run new:connector -- event <platform> <slug> <Name>` writes the skeleton of a connector that sends events: its
 * definition, a test server, a test by examples, for a new platform its `platform.ts`, and lines in the catalogue and among the
 * connectors whose servers echo what was sent. The skeleton passes its tests; replace its facts by those of the platform.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const connectors = join(root, 'packages/connectors')
const [kind, platform = '', slug = '', ...names] = process.argv.slice(2)
const name = names.join(' ')
process.exitCode = main()

function main(): number {
  const folder = join(connectors, 'src', platform)
  if (kind !== 'event' || name === '' || !isSlug(platform) || !isSlug(slug)) {
    console.error('Usage: npm run new:connector -- event <folder of a platform> <slug> <Name>')
    console.error('The folder is one of packages/connectors/src, or a new one.')
    return 1
  }
  const platformFile = join(folder, 'platform.ts')
  const isNew = !existsSync(platformFile)
  const platformText = isNew ? platformDefinition() : readFileSync(platformFile, 'utf8')
  const platformName = /export const (\w+)/.exec(platformText)?.[1] ?? ''
  const constant = camelCase(slug)
  const start = `start${constant[0]?.toUpperCase()}${constant.slice(1)}`
  const files = {
    ...(isNew && { [platformFile]: platformText }),
    [join(folder, `${slug}.ts`)]: definition(platformName, constant),
    [join(folder, `${slug}.test.ts`)]: examples(constant, start),
    [join(connectors, 'test', `${slug}-server.ts`)]: server(start),
  }
  const taken = Object.keys(files).find((file) => existsSync(file))
  if (taken !== undefined) {
    console.error(`${taken} exists. Choose another slug.`)
    return 1
  }
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(file, text)
    console.log(file)
  }
  change(join(connectors, 'src/index.ts'), (text) => inCatalogue(text, constant))
  change(join(root, 'test/echoes/events.ts'), (text) => text.replace(/: readonly Side\[\] = \[\n/, `$&${echo()}`))
  console.log(
    `Next: npx biome check --write packages test/echoes, npm test -- ${slug}, and the steps in packages/connectors/README.md.`,
  )
  return 0
}

function isSlug(text: string): boolean {
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text)
}

function camelCase(text: string): string {
  return text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function change(file: string, by: (text: string) => string): void {
  writeFileSync(file, by(readFileSync(file, 'utf8')))
  console.log(file)
}

/** The catalogue with the connector, before the next one by folder and slug. */
function inCatalogue(text: string, constant: string): string {
  const imports = [...text.matchAll(/^import \{ (\w+) \} from '\.\/([\w-]+\/[\w-]+)\.ts'$/gm)]
  const later = imports.filter(([, , path = '']) => path > `${platform}/${slug}`)
  const [line, next] = later.sort(([, , a = ''], [, , b = '']) => (a < b ? -1 : 1))[0] ?? ['import { makeCatalogue }']
  return text
    .replace(line, `import { ${constant} } from './${platform}/${slug}.ts'\n${line}`)
    .replace(next === undefined ? '\n])' : `\n  ${next},`, `\n  ${constant},$&`)
}

function platformDefinition(): string {
  const words = platform.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return `import { definePlatform } from '@penstock/connector'

export const ${camelCase(platform)} = definePlatform({ slug: '${platform}', name: '${words.join(' ')}', type: 'Demand-Side Platform (DSP)' })
`
}

function echo(): string {
  return `  {
    slug: '${slug}',
    secrets: { accessToken: secret('${slug}') },
    settings: { dataSetId: '12345' },
    row: { event_name: 'Lead', event_time: Math.floor(Date.now() / 1000) - 60, email: canary },
  },
`
}

function definition(platformName: string, constant: string): string {
  return `import { secret } from '@penstock/connector'
import { bearer, idSetting, restApi } from '../kit/api.ts'
import { currency, decimal, digest, eventId, plain, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { numberIn, objectIn } from '../platform-api/json.ts'
import { ${platformName} } from './platform.ts'

/** Events for ${name}. */
export const ${constant} = eventDestination({
  slug: '${slug}',
  name: '${name}',
  platform: ${platformName},
  dataType: 'Conversions',
  description: 'Reports events to ${name}.',
  notes: 'Limits, delays, and agreements that a person must know of before use.',
  tested: 'Our own test server, which follows the published documentation of the platform; not the platform itself.',
  api: { version: 'v1', ends: 'No end is known.' },
  platformApi: restApi({
    name: '${name}',
    baseUrl: 'https://api.example.com/v1',
    errors: {
      statuses: {
        400: 'invalid_batch',
        401: ['invalid_credentials', 'Create a new access token and save it in the connector.'],
        403: ['permission_denied', 'Give the user of the token access to the data set.'],
        404: ['object_not_found', 'Check the data set ID.'],
        429: 'rate_limited',
      },
    },
  }),
  auth: bearer('accessToken'),
  secrets: {
    accessToken: secret({ label: 'Access token', description: 'Token of the platform', required: true }),
  },
  settings: {
    dataSetId: idSetting({
      label: 'Data set ID',
      description: 'ID of the data set that the events belong to',
      required: true,
      pattern: /^\\d{1,20}$/,
      example: '12345',
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  request: (events, { settings }) => ({ path: \`/data_sets/\${settings.dataSetId}/events\`, body: { events } }),
  answer: {
    refuses: [400],
    refusal: 'The platform does not accept the event',
    confirms: ({ json }, sent) => numberIn(objectIn(json).accepted) === sent,
  },
  probe: { names: 'data set', credentials: 'access token', stranger: { dataSetId: '0' } },
  columns: {
    event_name: plain('name', 'Name of the event', { required: true, synonyms: ['event'] }),
    event_time: time('time', 'When it happened: ISO 8601 with its zone, or seconds or milliseconds since 1970', {
      unit: 'seconds',
      daysMax: 7,
      synonyms: ['timestamp'],
    }),
    event_id: eventId('id', 'ID by which the platform recognises a repeated event'),
    email: digest('user.email', 'E-mail address', 'email'),
    value: decimal('value', 'Value of the event', { min: 0 }),
    currency: currency('currency', 'Currency of the value, as three letters'),
  },
})
`
}

function server(start: string): string {
  return `import { digest, each, listOf, nonEmptyText, objectOf, positiveNumber, wholeNumber } from './body-schema.ts'
import { type PlatformServer, type Reply, startPlatform } from './platform-server.ts'

/** ${name}, written from its published documentation. It refuses events named \`Refused\`, and everything that it does not know. */
export type ${start.slice(5)}Server = PlatformServer & { readonly events: Map<string, Record<string, unknown>> }

const event = objectOf(
  {
    ...each('name id currency', nonEmptyText),
    time: wholeNumber,
    user: objectOf({ email: digest }),
    value: positiveNumber,
  },
  ['name', 'id', 'time'],
)
const isBody = objectOf({ events: listOf(event) }, ['events'])

export async function ${start}(): Promise<${start.slice(5)}Server> {
  const events: ${start.slice(5)}Server['events'] = new Map()
  const server = await startPlatform(({ method, path, headers, json }): Reply => {
    if (path === '/') return { text: '' }
    if (headers.authorization !== 'Bearer the-access-token') return { status: 401, json: {} }
    if (\`\${method} \${path}\` !== 'POST /v1/data_sets/12345/events') return { status: 404, json: {} }
    const { events: all = [] } = (json ?? {}) as { events?: { id: string; name: string }[] }
    if (!isBody(json) || all.some((one) => one.name === 'Refused')) return { status: 400, json: {} }
    for (const one of all) if (!events.has(one.id)) events.set(one.id, one)
    return { json: { accepted: all.length } }
  })
  return Object.assign(server, { events })
}
`
}

function examples(constant: string, start: string): string {
  const type = `${start.slice(5)}Server`
  return `import { type ${type}, ${start} } from '../../test/${slug}-server.ts'
import { sha256, testEventDestination } from '../../test/test-event-destination.ts'
import { ${constant} } from './${slug}.ts'

const seconds = Math.floor(Date.now() / 1000) - 60

await testEventDestination<${type}>({
  connector: ${constant},
  testServer: 'a server that keeps to the published documentation',
  start: ${start},
  origins: ['https://api.example.com'],
  secrets: { accessToken: 'the-access-token' },
  wrongSecrets: { accessToken: 'expired' },
  settings: { dataSetId: '12345' },
  missing: { dataSetId: '1' },
  posts: /events$/,
  eventsIn: (json) => (json as { events: unknown[] }).events,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row: (n) => ({ event_name: 'Lead', event_time: seconds, email: sha256(\`\${n}@example.com\`), event_id: \`e-\${n}\` }),
  kept: ({ name, time, user, id }: { name: string; time: number; user: { email: string }; id: string }) => [
    name,
    time,
    user.email,
    id,
  ],
  refused: { event_name: 'Refused' },
  refusedBecause: /does not accept/,
  deduplicates: true,
  revoked: { status: 401, json: {} },
  examples: [
    {
      title: 'every column',
      row: { event_id: 'order-1', value: '12.50', currency: 'eur' },
      event: {
        name: 'Lead',
        time: seconds,
        id: 'order-1',
        user: { email: sha256('1@example.com') },
        value: 12.5,
        currency: 'EUR',
      },
    },
  ],
  rejected: [
    [{ event_time: 'yesterday' }, 'event_time'],
    [{ email: 'jane@example.com' }, 'email'],
    [{ value: '-1' }, 'value'],
    [{ currency: 'euro' }, 'currency'],
  ],
  failures: [
    [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
    [{ status: 404, json: {} }, 'reconfigure', 'object_not_found'],
    [{ status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7_000],
  ],
})
`
}
