import { readFiles } from './find-files.ts'
import { account as accountKind } from './kinds/account.ts'
import { kinds, owned } from './kinds.ts'
import { refuseTwins } from './match.ts'
import { ConfigurationError, describePosition, type Locate, type Problem } from './problems.ts'
import { type FileAccount, readYaml } from './read-yaml.ts'
import { type DesiredAccount, type Entry, listIn } from './resource-kind.ts'
import type { readState } from './service-state.ts'

/** The content of all files. A list of the organization that no file has is left alone. */
export type Desired = { readonly accounts: readonly DesiredAccount[]; readonly organization: object }

/** A file, or a sub-account in it. */
type Part<T extends object = object> = { readonly content: T; readonly at: Locate }

/**
 * Reads files and directories, and combines their definitions of the organization and of each sub-account.
 * @throws ConfigurationError with everything that is wrong in all of them
 */
export async function loadDesired(paths: readonly string[]): Promise<Desired> {
  const read = (await readFiles(paths)).map(readYaml)
  const problems: Problem[] = read.flatMap((file) => file.problems)
  const files = read.flatMap(({ document }) =>
    document ? { content: document.content, at: (...path: readonly (string | number)[]) => document.at(path) } : [],
  )
  const parts = files.flatMap(({ content, at }) =>
    (content.accounts ?? []).map((account, index): Part<FileAccount> => {
      return { content: account, at: (...inside) => at('accounts', index, ...inside) }
    }),
  )
  const groups = Map.groupBy(parts, ({ content: { id, name } }) => id ?? `name ${name.trim()}`)
  const accounts = [...groups.values()].map((group) => mergeAccount(group, problems))
  // An account that one file names by its identifier and another one by its name would be two.
  refuseTwins(accountKind, accounts, null, problems)
  const organization = readLists(files, null, problems)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return { accounts, organization }
}

/**
 * Chooses the sub-accounts that the files define, including renamed ones, or all sub-accounts if a rule of the organization names
 * connections.
 */
export function chooseAccounts({ accounts, organization }: Desired): NonNullable<Parameters<typeof readState>[1]> {
  const isWide = owned.some((kind) => listIn<Entry>(kind, organization)?.some((entry) => kind.isWide?.(entry)))
  if (isWide) return (all) => [...all]
  const names = new Set(accounts.flatMap(({ name, was }) => [name, ...was]))
  const ids = new Set(accounts.map(({ id }) => id))
  return async (all, renames) => {
    const there = new Set(all.map(({ name }) => name))
    const open = accounts.filter(
      ({ id, name, was }) => id === undefined && ![name, ...was].some((one) => there.has(one)),
    )
    const former = open.length > 0 && accountKind.audited ? await renames(accountKind.audited) : undefined
    const wasNamed = (id: string) => open.some(({ name }) => former?.get(id)?.includes(name))
    return all.filter(({ id, name }) => names.has(name) || ids.has(id) || wasNamed(id))
  }
}

/** The entries of each kind that a sub-account or the organization has in its files. */
function readLists(parts: readonly Part[], account: string | null, problems: Problem[]): object {
  const lists: Record<string, Entry[]> = {}
  for (const kind of account === null ? owned : kinds) {
    const having = parts.filter(({ content }) => listIn(kind, content))
    if (account === null && having.length === 0) continue
    lists[kind.list] = having.flatMap(({ content, at }) =>
      (listIn(kind, content) ?? []).map((written, index) =>
        kind.parse(written, (...inside) => at(kind.list, index, ...inside), account, problems),
      ),
    )
  }
  // Names with references are compared after the references are resolved.
  for (const kind of kinds) if (!kind.resolve) refuseTwins(kind, lists[kind.list] ?? [], account, problems)
  return lists
}

function mergeAccount(parts: readonly Part<FileAccount>[], problems: Problem[]): DesiredAccount {
  const [first] = parts
  if (!first) throw new Error('An account is in at least one file')
  const name = first.content.name.trim()
  for (const key of ['enabled', 'name'] as const) {
    const said = parts.filter(({ content }) => content[key] !== undefined)
    const other = said.find(({ content }) => trimmed(content[key]) !== trimmed(said[0]?.content[key]))
    if (other && said[0])
      problems.push({
        message: `${key} of the sub-account ${name} is different at ${describePosition(said[0].at(key))}: write it once.`,
        at: other.at(key),
      })
  }
  return {
    ...readLists(parts, name, problems),
    name,
    id: first.content.id,
    was: [...new Set(parts.flatMap(({ content: { was = [] } }) => was.map((one) => one.trim())))],
    enabled: parts.find(({ content }) => content.enabled !== undefined)?.content.enabled,
    at: first.at,
  }
}

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value)
