import { join } from 'node:path'
import { type BodyOf, basePath } from '@penstock/wire'
import pg from 'pg'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import type { Environment } from './environment.ts'
import { type Loaded, load, type Size } from './load.ts'
import { freePort, type Server, startServer } from './processes.ts'

/** The real service as an operator starts it, on a loaded database, with everything that a caller needs to use it. */
export type Service = Server & {
  readonly databaseUrl: string
  readonly loaded: Loaded
  readonly organizationId: string
  readonly credentials: BodyOf<'createToken'>
  readonly token: string
}

/** The environment of all resources: the service's default. */
export const environment = 'production'

/**
 * Creates a database, starts the service on it (which migrates it), and loads it. `env` is added to its settings. `checkout`
 * selects another version.
 */
export async function startService(
  { serverUrl, directory }: Environment,
  name: string,
  size: Size,
  env: Readonly<Record<string, string>> = {},
  checkout?: string,
): Promise<Service> {
  const databaseUrl = await createDatabase(serverUrl, name)
  const port = await freePort()
  const credentials = { clientId: 'bench', clientSecret: generateMasterKey() }
  const server = await startServer('packages/server/bin/penstock.js', ['serve'], {
    port,
    path: '/readyz',
    ...(checkout ? { checkout } : {}),
    logFile: join(directory, `${name}.log`),
    env: {
      DATABASE_URL: databaseUrl,
      PENSTOCK_PORT: String(port),
      PENSTOCK_DATA_DIR: join(directory, name),
      PENSTOCK_MASTER_KEY: generateMasterKey(),
      PENSTOCK_RATE_LIMIT: '0',
      PENSTOCK_QUOTA_ACCOUNTS: '10000000',
      PENSTOCK_CLIENT_ID: credentials.clientId,
      PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
      ...env,
    },
  })
  try {
    const organizationId = await onlyOrganization(databaseUrl)
    const loaded = await load(databaseUrl, organizationId, environment, size)
    const token = await issueToken(server.url, credentials)
    return { ...server, databaseUrl, loaded, organizationId, credentials, token }
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await query(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function onlyOrganization(databaseUrl: string): Promise<string> {
  const [row] = await query(databaseUrl, 'select id from organizations')
  if (typeof row?.id !== 'string') throw new Error('The service has started without making an organization.')
  return row.id
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'penstock bench' })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function issueToken(url: string, credentials: BodyOf<'createToken'>): Promise<string> {
  const response = await fetch(`${url}${basePath}/oauth/client-token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  })
  const { accessToken } = (await response.json()) as { accessToken: string }
  return accessToken
}
