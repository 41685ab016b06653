import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { programVersion } from '../../version.ts'
import { PackageRefused } from './probe.ts'

/**
 * Writes a package to start from: a working connector, a source with two settings, and tests that pass.
 * @param slug of the connector, and the name of the new directory
 * @returns the directory
 * @throws PackageRefused if the slug is not valid, or the directory exists
 */
export async function writeSkeleton(slug: string): Promise<string> {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) || slug.length > 100)
    throw new PackageRefused(`${slug} is not a valid slug: use lowercase words joined by hyphens, such as acme-orders.`)
  const folder = resolve(slug)
  if (existsSync(folder)) throw new PackageRefused(`${folder} is there already: remove it, or use another slug.`)
  await mkdir(folder)
  for (const [file, text] of Object.entries(filesOf(slug))) await writeFile(join(folder, file), text)
  return folder
}

const nameOf = (slug: string): string =>
  slug
    .split('-')
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join(' ')

const filesOf = (slug: string): Readonly<Record<string, string>> => ({
  'package.json': `${JSON.stringify(
    {
      name: `penstock-connector-${slug}`,
      version: '0.1.0',
      type: 'module',
      exports: './index.js',
      peerDependencies: { '@penstock/connector': `^${programVersion()}` },
    },
    null,
    2,
  )}\n`,
  'index.js': `import { checkSteps, defineConnector, definePlatform, number, secret } from '@penstock/connector'

// Only the definition: the service shows its fields. Functions import the code that moves data when they are called.
export const connector = defineConnector({
  slug: '${slug}',
  name: '${nameOf(slug)}',
  platform: definePlatform({ slug: '${slug}', name: '${nameOf(slug)}', type: 'Data Provider' }),
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads the squares of the first whole numbers.',
  secrets: {
    apiKey: secret({ label: 'API key', description: 'Any text but wrong', required: true }),
  },
  check: checkSteps(['API key', async (context) => (await import('./read.js')).check(context)]),
  source: {
    fields: {
      rows: number({ label: 'Rows', description: 'How many are read', default: 250, min: 1, max: 1_000_000 }),
    },
    open: async (context) => (await import('./read.js')).open(context),
  },
})
`,
  'read.js': `import { ConnectorError } from '@penstock/connector'

const rowsOfChunk = 100

/** Throws if the platform refuses the secrets; otherwise describes the account. */
export async function check({ secrets }) {
  // Requests go through context.egress.request(url), which allows the addresses that the operator allows.
  if (secrets.apiKey === 'wrong') throw new ConnectorError('invalid_credentials', 'The API key is wrong.')
  return 'The API key is accepted.'
}

export async function open(context) {
  await check(context)
  const { settings, signal } = context
  return {
    total: { rows: settings.rows },
    // A checkpoint is where reading continues after these rows, in another process if need be.
    async *read(after = 0) {
      for (let from = after; from < settings.rows; from += rowsOfChunk) {
        signal.throwIfAborted()
        const count = Math.min(rowsOfChunk, settings.rows - from)
        const rows = Array.from({ length: count }, (_, at) => [String(from + at), String((from + at) ** 2)])
        yield { columns: ['number', 'square'], rows, bytes: rows.join().length, checkpoint: from + count }
      }
    },
    async close() {},
  }
}
`,
  'connector.test.js': `import { acceptSource } from '@penstock/connector/acceptance'
import { connector } from './index.js'

// The duties of every source: resume after any chunk, stop at the signal, show no secret in an error.
acceptSource({
  connector,
  testServer: 'nothing outside',
  secrets: { apiKey: 'right' },
  wrongSecrets: { apiKey: 'wrong' },
  settings: { rows: 250 },
  columns: ['number', 'square'],
  rows: Array.from({ length: 250 }, (_, at) => [String(at), String(at ** 2)]),
})
`,
})
