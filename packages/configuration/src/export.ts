import { createHash } from 'node:crypto'
import type { Client } from '@penstock/client'
import { Document, isMap } from 'yaml'
import { withBound } from './calls.ts'
import { createDefinitions } from './definitions.ts'
import { twinNote, wordsOf, wordsOfNames } from './export-names.ts'
import { kinds, owned, type ServiceState } from './kinds.ts'
import { ConfigurationError } from './problems.ts'
import { type AccountState, statesIn, type Writing, whose } from './resource-kind.ts'
import { schemaFile } from './schema.ts'
import { readState } from './service-state.ts'

/** Writes the configuration of a service as a file. A plan with this file finds no changes. */

export type Exported = {
  readonly name: string
  readonly text: string
}
export type ExportResult = {
  /** One for each sub-account, or one for all. */
  readonly files: readonly Exported[]
  /** The environment variables that the files refer to. */
  readonly variables: readonly string[]
  /** Notes for the person. */
  readonly notes: readonly string[]
  readonly connections: number
}
export type ExportOptions = {
  readonly client: Client
  /** Address of the service, which serves the schema for editors. */
  readonly baseUrl: string
  /** The names of the sub-accounts to export; undefined: all, and the resources of the organization. */
  readonly accounts?: readonly string[] | undefined
  /** A file for each sub-account. */
  readonly split?: boolean | undefined
}

export async function exportConfiguration({ client, baseUrl, accounts, split }: ExportOptions): Promise<ExportResult> {
  const isWanted = ({ name }: { name: string }) => accounts === undefined || accounts.includes(name)
  const state = await readState(client, (all) => all.filter(isWanted))
  const chosen = state.accounts.filter(isWanted).toSorted(compareBy(({ name }) => name))
  const unknown = accounts?.filter((name) => !chosen.some((account) => account.name === name)) ?? []
  if (unknown.length > 0)
    throw new ConfigurationError(unknown.map((name) => ({ message: `The sub-account ${name} does not exist.` })))
  const definitions = createDefinitions(client)
  const slugs = chosen.flatMap(({ connectors }) => connectors.map(({ slug }) => slug))
  await withBound([...new Set(slugs)], definitions)
  const notes: string[] = []
  const nameVariable = createVariableNames(chosen)
  const write = async (account: AccountState | null): Promise<Written> => {
    const variables = new Set<string>()
    const secret = (of: string, field: string) => {
      const variable = nameVariable(account, of, field)
      variables.add(variable)
      return `\${env:${variable}}`
    }
    return { lists: await writeLists(state, { state, definitions, account, secret, notes }), variables }
  }
  const written = await Promise.all(
    chosen.map(async (account) => {
      const { name, enabled } = account
      const isTwin = chosen.filter((one) => one.name === name).length > 1
      if (isTwin) notes.push(twinNote(`sub-account ${name}`))
      const { lists, variables } = await write(account)
      return { variables, lists: { accounts: [{ name, ...(isTwin ? { id: account.id } : {}), enabled, ...lists }] } }
    }),
  )
  const organization = accounts === undefined ? [await write(null)] : []
  const whole = merged([...organization, ...written])
  const files = split
    ? [
        // No sub-account has this name of a file.
        ...organization.map((content) => ({ name: '_organization.yaml', content })),
        ...written.map((content, index) => ({ name: fileNameOf(chosen, index), content })),
      ]
    : [{ name: 'penstock.yaml', content: whole }]
  return {
    files: files.map(({ name, content }) => ({ name, text: textOf(content, baseUrl) })),
    variables: [...whole.variables].sort(),
    notes,
    connections: chosen.reduce((sum, { connections }) => sum + connections.length, 0),
  }
}

/** The content of a file, and the environment variables that it refers to. */
type Written = {
  readonly lists: Readonly<Record<string, readonly unknown[]>>
  readonly variables: ReadonlySet<string>
}

const merged = (parts: readonly Written[]): Written => ({
  lists: { ...parts[0]?.lists, accounts: parts.flatMap(({ lists }) => lists.accounts ?? []) },
  variables: new Set(parts.flatMap(({ variables }) => [...variables])),
})

/**
 * The lists of a sub-account that are not empty, or all lists of the organization. A plan compares only lists that are in a file.
 */
async function writeLists(state: ServiceState, writing: Writing): Promise<Written['lists']> {
  const { account, notes } = writing
  const lists: Record<string, unknown[]> = {}
  for (const kind of account ? kinds : owned) {
    const isOwn = (one: object) => (one as { accountId: string | null }).accountId === null
    const states = account ? statesIn(kind, account) : statesIn(kind, state).filter(isOwn)
    const sorted = states.toSorted(compareBy((one) => kind.nameOf(one)))
    const twins = Map.groupBy(sorted, (one) => kind.nameOf(one))
    const entries = await Promise.all(
      sorted.map((one) => {
        const isTwin = (twins.get(kind.nameOf(one))?.length ?? 0) > 1
        return kind.write(one, isTwin ? { id: (one as { id: string }).id } : {}, sorted, writing)
      }),
    )
    for (const [name, some] of twins)
      if (some.length > 1) notes.push(twinNote(`${kind.title} ${name}${whose(account?.name ?? null)}`))
    if (entries.length > 0 || !account) lists[kind.list] = entries
  }
  return lists
}

/** By a name, then by the identifier. */
const compareBy =
  <T extends object>(nameOf: (one: T) => string) =>
  (one: T, other: T) => {
    const [a, b] = [one, other].map((each) => [nameOf(each), (each as { id?: string }).id ?? ''])
    return a && b && a[0] === b[0] ? compare(a[1], b[1]) : compare(a?.[0], b?.[0])
  }
const compare = (one = '', other = '') => (one < other ? -1 : one > other ? 1 : 0)

/** Names of environment variables. They depend only on the names of the sub-account, the connector and the field. */
function createVariableNames(accounts: readonly AccountState[]) {
  const wordOf = wordsOfNames(accounts.map(({ name }) => name))
  const prefixOf = ({ name }: AccountState) => {
    const word = wordOf(name) || 'ACCOUNT'
    return /^[0-9]/.test(word) ? `_${word}` : word
  }
  // Names of sub-accounts never contain line breaks.
  return (account: AccountState | null, of: string, field: string) =>
    `${account ? prefixOf(account) : 'ORGANIZATION_'}_${wordsOf(of)}_${wordsOf(field)}`
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

function textOf({ lists, variables }: Written, baseUrl: string): string {
  const content = { version: 1, ...lists }
  const document = new Document(content, { version: '1.2', schema: 'core', aliasDuplicateObjects: false })
  // An empty line between accounts and between connections, so that a person finds them.
  const spaced = [
    document.get('accounts', true),
    ...(lists.accounts ?? []).map((_, index) => document.getIn(['accounts', index, 'connections'], true)),
  ]
  for (const list of spaced)
    for (const [index, item] of ((list as { items?: unknown[] } | undefined)?.items ?? []).entries())
      if (index > 0 && isMap(item)) item.spaceBefore = true
  const named = [...variables].sort().map((name) => `#   ${name}`)
  return [
    `# yaml-language-server: $schema=${baseUrl.replace(/\/+$/, '')}/docs/${schemaFile}`,
    '# Written by the command export of Penstock. Secrets cannot be read, so they are references.',
    ...(named.length > 0 ? ['#', '# Secrets come from these environment variables:', ...named] : []),
    '',
    document.toString({ lineWidth: 0, flowCollectionPadding: false }),
  ].join('\n')
}
