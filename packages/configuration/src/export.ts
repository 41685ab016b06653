import { createHash } from 'node:crypto'
import type { Client } from '@penstock/client'
import { Document, isMap } from 'yaml'
import { withBound } from './calls.ts'
import { byName, escaped, idIfTwin, twinNote, wordsOf, wordsOfNames } from './export-names.ts'
import { writeAlertRules, writeWebhooks } from './export-owned.ts'
import { ConfigurationError } from './problems.ts'
import type { FileAccount, FileConnection, FileConnector, FileContent } from './read-yaml.ts'
import { schemaFile } from './schema.ts'
import {
  type AccountState,
  type ConnectionState,
  createDefinitions,
  type Definitions,
  readState,
} from './service-state.ts'
import { fieldsOf, readMapping, settable } from './values.ts'

/** Writes what a service is configured with as a file that a plan finds nothing to change in. */

export type Exported = {
  readonly name: string
  readonly text: string
}
export type ExportResult = {
  /** One for each sub-account, or one for all. */
  readonly files: readonly Exported[]
  /** The environment variables that the files refer to. */
  readonly variables: readonly string[]
  /** What a person has to know. */
  readonly notes: readonly string[]
  readonly connections: number
}
export type ExportOptions = {
  readonly client: Client
  /** Where the service serves its documents, for editors. */
  readonly baseUrl: string
  /** The names of the sub-accounts to export; undefined: all, and what is of the organization itself. */
  readonly accounts?: readonly string[] | undefined
  /** A file for each sub-account. */
  readonly split?: boolean | undefined
}

export async function exportConfiguration({ client, baseUrl, accounts, split }: ExportOptions): Promise<ExportResult> {
  const isWanted = ({ name }: { name: string }) => accounts === undefined || accounts.includes(name)
  const state = await readState(client, isWanted)
  const chosen = state.accounts.filter(isWanted).toSorted(byName)
  const unknown = accounts?.filter((name) => !chosen.some((account) => account.name === name)) ?? []
  if (unknown.length > 0)
    throw new ConfigurationError(unknown.map((name) => ({ message: `There is no sub-account ${name}.` })))
  const definitions = createDefinitions(client)
  const slugs = chosen.flatMap((account) => [...account.connectors.keys()])
  await withBound([...new Set(slugs)], definitions)
  const writing: Writing = { definitions, variables: createVariableNames(chosen), notes: [] }
  const written = await Promise.all(
    chosen.map(async (account) => ({
      ...(await writeAccount(account, chosen, writing)),
      ...ifAnyOf('webhooks', writeWebhooks(state, account, writing)),
      ...ifAnyOf(
        'alertRules',
        writeAlertRules(state, account, writing, ({ name }) => name),
      ),
    })),
  )
  // The lists are there even where they are empty: a plan compares those that a file has.
  const organization: Pick<FileContent, 'webhooks' | 'alertRules'> =
    accounts === undefined
      ? {
          webhooks: writeWebhooks(state, null, writing),
          alertRules: writeAlertRules(state, null, writing, ({ account, name }) => ({ account, connection: name })),
        }
      : {}
  const groups = split
    ? [
        // No sub-account has this name of a file.
        ...(accounts === undefined ? [{ name: '_organization.yaml', content: organization }] : []),
        ...written.map((account, index) => ({ name: fileNameOf(chosen, index), content: { accounts: [account] } })),
      ]
    : []
  const files = (split ? groups : [{ name: 'penstock.yaml', content: { ...organization, accounts: written } }]).map(
    ({ name, content }) => ({ name, text: textOf(content, baseUrl) }),
  )
  const variables = variablesOf({ ...organization, accounts: written })
  const connections = written.reduce((sum, account) => sum + (account.connections?.length ?? 0), 0)
  return { files, variables, notes: writing.notes, connections }
}

export type Writing = {
  readonly definitions: Definitions
  /** @param account null: the organization */
  readonly variables: (account: AccountState | null, slug: string, field: string) => string
  readonly notes: string[]
}

async function writeAccount(
  account: AccountState,
  all: readonly AccountState[],
  writing: Writing,
): Promise<FileAccount> {
  const twin = idIfTwin(all, account)
  if (twin.id) writing.notes.push(twinNote(`sub-account ${account.name}`))
  const connectors = await Promise.all(
    [...account.connectors.keys()].sort().map((slug) => writeConnector(account, slug, writing)),
  )
  const sorted = account.connections.toSorted(byName)
  const counts = Map.groupBy(sorted, ({ name }) => name)
  const connections = await Promise.all(
    sorted.map((connection) => writeConnection(connection, (counts.get(connection.name)?.length ?? 0) > 1, writing)),
  )
  for (const [name, group] of counts)
    if (group.length > 1) writing.notes.push(twinNote(`connection ${name} of the sub-account ${account.name}`))
  return {
    ...{ name: account.name, ...twin, enabled: account.enabled },
    ...(connectors.length > 0 ? { connectors } : {}),
    ...(connections.length > 0 ? { connections } : {}),
  }
}

const escapeAll = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, escaped(value)])) as Record<string, string>
const ifAnyOf = <K extends string, V>(key: K, values: readonly V[]) =>
  (values.length > 0 ? { [key]: values } : {}) as { [key in K]?: V[] }
const ifAny = <K extends string, V extends object>(key: K, values: V) =>
  (Object.keys(values).length > 0 ? { [key]: values } : {}) as { [key in K]?: V }

async function writeConnector(account: AccountState, slug: string, writing: Writing): Promise<FileConnector> {
  const saved = account.connectors.get(slug)
  const definition = await writing.definitions(slug)
  if (!saved || !definition) return { connector: slug }
  const byClick = saved.authorized ? (definition.authorization?.fields ?? []) : []
  if (saved.authorized)
    writing.notes.push(
      `${slug} of the sub-account ${account.name} was authorized with a click. In another service, authorize it there.`,
    )
  const secrets = saved.secrets
    .filter((field) => !byClick.includes(field))
    .map((field) => [field, `\${env:${writing.variables(account, slug, field)}}`])
  return {
    connector: slug,
    ...(saved.name === 'Default' ? {} : { name: saved.name }),
    // The name that the service gave has the identifier of the sub-account in it.
    ...(saved.secretName === `${slug}/${account.id}` ? {} : { secretName: saved.secretName }),
    ...ifAny('settings', escapeAll(settable(fieldsOf(definition.secretFields), saved.settings))),
    ...ifAny('secrets', Object.fromEntries(secrets)),
  }
}

async function writeConnection(
  connection: ConnectionState,
  isTwin: boolean,
  writing: Writing,
): Promise<FileConnection> {
  const sideOf = async (role: 'source' | 'destination', values: object) => {
    const definition = await writing.definitions(connection[role])
    return settable(fieldsOf(definition?.[role]?.fields ?? []), values as Record<string, unknown>)
  }
  const source = await sideOf('source', connection.srcConnectionConfig)
  const { mapping: text, ...destination } = await sideOf('destination', connection.destConnectionConfig)
  const mapping = readMapping(text)
  const kept = mapping || text === undefined ? destination : { ...destination, mapping: text }
  const { schedule, status } = connection
  return {
    ...{ name: connection.name, ...(isTwin ? { id: connection.id } : {}) },
    source: { connector: connection.source, ...ifAny('settings', escapeAll(source)) },
    destination: { connector: connection.destination, ...ifAny('settings', escapeAll(kept)) },
    ...(mapping ? ifAny('mapping', mapping) : {}),
    ...(schedule ? { schedule: { cron: schedule.cron, timezone: schedule.timezone, enabled: schedule.enabled } } : {}),
    // What is broken or offline is to be active; what was never activated is not mentioned.
    ...(status === 'In-progress' ? {} : { status: status === 'disabled' ? 'disabled' : 'active' }),
  }
}

/** Names of environment variables that follow from the names of the sub-account, the connector and the field alone. */
function createVariableNames(accounts: readonly AccountState[]): Writing['variables'] {
  const wordOf = wordsOfNames(accounts.map(({ name }) => name))
  const prefixOf = ({ name }: AccountState) => {
    const word = wordOf(name) || 'ACCOUNT'
    return /^[0-9]/.test(word) ? `_${word}` : word
  }
  // No name of a sub-account gives two lines.
  return (account, slug, field) => `${account ? prefixOf(account) : 'ORGANIZATION_'}_${wordsOf(slug)}_${wordsOf(field)}`
}

/** The environment variables that are references of secrets. */
const variablesOf = ({ accounts = [], alertRules = [] }: FileContent): string[] => {
  const ofConnectors = accounts.flatMap(({ connectors = [] }) =>
    connectors.flatMap(({ secrets = {} }) => Object.values(secrets)),
  )
  const rules = [...alertRules, ...accounts.flatMap(({ alertRules: own = [] }) => own)]
  const ofRules = rules.flatMap(({ slackUrl, teamsUrl }) => [slackUrl, teamsUrl])
  const references = [...ofConnectors, ...ofRules].filter((reference) => typeof reference === 'string')
  return [...new Set(references.map((reference) => reference.slice(`\${env:`.length, -1)))].sort()
}

/** A name for the file of a sub-account, that no other one has. */
function fileNameOf(accounts: readonly AccountState[], index: number): string {
  const plain = ({ name }: AccountState) =>
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 60)
  const account = accounts[index] as AccountState
  const words = plain(account)
  const digest = createHash('sha256').update(`${account.name} ${account.id}`).digest('hex').slice(0, 6)
  const isOwn = words !== '' && accounts.filter((other) => plain(other) === words).length === 1
  return `${isOwn ? words : `${words || 'account'}-${digest}`}.yaml`
}

function textOf(content: FileContent, baseUrl: string): string {
  const { accounts = [] } = content
  const document = new Document(
    { version: 1, ...content },
    { version: '1.2', schema: 'core', aliasDuplicateObjects: false },
  )
  // An empty line between accounts and between connections, so that a person finds them.
  const lists = [
    document.get('accounts', true),
    ...accounts.map((_, index) => document.getIn(['accounts', index, 'connections'], true)),
  ]
  for (const list of lists)
    for (const [index, item] of ((list as { items?: unknown[] } | undefined)?.items ?? []).entries())
      if (index > 0 && isMap(item)) item.spaceBefore = true
  const body = document.toString({ lineWidth: 0, flowCollectionPadding: false })
  const variables = variablesOf(content)
  const list =
    variables.length > 0
      ? ['#', '# Secrets come from these environment variables:', ...variables.map((name) => `#   ${name}`)]
      : []
  return [
    `# yaml-language-server: $schema=${baseUrl.replace(/\/+$/, '')}/docs/${schemaFile}`,
    '# Written by penstock export. Secrets cannot be read, so they are references.',
    ...list,
    '',
    body,
  ].join('\n')
}
