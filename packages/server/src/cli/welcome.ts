import { relative } from 'node:path'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { describeEgress } from '../egress-settings.ts'
import { type Credentials, isCurrentClient } from '../organizations/credentials.ts'
import { createFirstOrganization, listOrganizations, registerEnvironment } from '../organizations/organizations.ts'
import { hasPeople, inviteFirstOwner } from '../users/operator.ts'
import { credentialsFile, makeDataDirectory, readIfThere, writePrivate } from './runtime.ts'

/** Output of `penstock serve` when it is ready, and the credentials for the first sign-in. */

/**
 * Creates the first organization if there is none; generated credentials are kept in the data directory. With
 * `PENSTOCK_FIRST_ORGANIZATION=0`, it is only created with credentials of the settings: generated credentials would be lost with the
 * data directory of a container.
 */
export async function prepareFirstOrganization(config: Config, database: Database): Promise<Credentials | undefined> {
  await registerEnvironment(database, config)
  const given = credentialsOfSettings(config)
  if (!given && !config.createsFirstOrganization) return undefined
  return createFirstOrganization(database, given, async (credentials) => {
    if (given) return
    await makeDataDirectory(config)
    await writePrivate(credentialsFile(config), `${JSON.stringify(credentials)}\n`)
  })
}

const credentialsOfSettings = ({ firstClient }: Config): Credentials | undefined =>
  firstClient && { clientId: firstClient.id, clientSecret: firstClient.secret }

/**
 * Next steps for the operator.
 * @param first the credentials of the organization that this start created
 * @param toTerminal whether a person reads it. Otherwise it is kept, such as in the journal, and contains no secret.
 */
export async function welcome(
  config: Config,
  database: Database,
  first: Credentials | undefined,
  toTerminal: boolean,
): Promise<string> {
  const api = `${config.publicUrl}/es/v2`
  const nearby = relative(process.cwd(), credentialsFile(config))
  const file = nearby.startsWith('..') ? credentialsFile(config) : nearby
  const kept = await findKeptCredentials(config, database)
  const credentials = shellWord(kept ? `@${file}` : '{"clientId":"…","clientSecret":"…"}')
  return `${[
    `Penstock serves ${config.publicUrl} (documentation: ${config.publicUrl}/docs)`,
    describeEgress(config.egress),
    '',
    ...(await describePeople(config, database, first !== undefined && toTerminal)),
    ...(first && toTerminal
      ? showCredentials(config, first, file)
      : await describeCredentials(config, database, kept && file)),
    'Try it:',
    `  TOKEN=$(curl -s ${api}/oauth/client-token -H 'Content-Type: application/json' -d ${credentials} | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
    `  curl -s ${api}/accounts -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"First account"}'`,
    `  curl -s ${api}/accounts -H "Authorization: Bearer $TOKEN"`,
    '',
  ].join('\n')}\n`
}

/** Where the first person sets a password, and how to get another link before anyone has set one. */
async function describePeople(config: Config, database: Database, showsLink: boolean): Promise<string[]> {
  if (await hasPeople(database)) return []
  const [organization] = await listOrganizations(database)
  if (!organization) return []
  if (showsLink) {
    const link = await database.transaction((tx) => inviteFirstOwner(tx, organization.id, config))
    return ['Open this link to set your password, as the owner. It is shown this once:', `  ${link}`, '']
  }
  return [
    'No person can sign in yet. To get a link to set a password:',
    `  penstock user invite --organization ${organization.id} --role owner --email you@example.com`,
    '',
  ]
}

/** Whether the file of credentials exists and contains credentials of a client of this database. */
async function findKeptCredentials(config: Config, database: Database): Promise<boolean> {
  const text = await readIfThere(credentialsFile(config))
  try {
    const { clientId, clientSecret } = JSON.parse(text ?? 'null') ?? {}
    return typeof clientId === 'string' && typeof clientSecret === 'string'
      ? await isCurrentClient(database, { clientId, clientSecret })
      : false
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

function showCredentials({ firstClient }: Config, { clientId, clientSecret }: Credentials, file: string): string[] {
  if (firstClient) return []
  return [
    `Your client credentials, for programs, shown this once and kept in ${file}:`,
    `  client id      ${clientId}`,
    `  client secret  ${clientSecret}`,
    '',
  ]
}

/** Where the credentials of an earlier start are, which may have failed before it showed them, or how to create new ones. */
async function describeCredentials(config: Config, database: Database, file: string | false): Promise<string[]> {
  const given = credentialsOfSettings(config)
  if (given && (await isCurrentClient(database, given))) return []
  if (file) return [`Your client credentials, for programs, are in ${file}.`, '']
  const [organization] = await listOrganizations(database)
  if (!organization) {
    return [
      'There is no organization yet. Create one, which prints client credentials:',
      '  penstock org create --name Acme --owner-email you@example.com',
      '',
    ]
  }
  return [
    given
      ? 'PENSTOCK_CLIENT_ID and PENSTOCK_CLIENT_SECRET are not the credentials of a client in this database. Create new ones:'
      : 'No client credentials are kept here. Those created before still work. To create new ones:',
    `  penstock client create --organization ${organization.id}`,
    '',
  ]
}

/** A text quoted so that a shell reads it as one word. */
const shellWord = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
