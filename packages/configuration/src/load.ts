import type { DesiredAccount, DesiredConnection, DesiredConnector, Values } from './desired.ts'
import { readFiles } from './find-files.ts'
import { ConfigurationError, describePosition, type Problem } from './problems.ts'
import { type FileAccount, type ReadDocument, readYaml } from './read-yaml.ts'

/** A sub-account of one file. */
type Part = {
  readonly account: FileAccount
  readonly document: ReadDocument
  readonly path: readonly (string | number)[]
}

/**
 * Reads files and directories, and puts together what they say of each sub-account.
 * @throws ConfigurationError with everything that is wrong in all of them
 */
export async function loadDesired(paths: readonly string[]): Promise<DesiredAccount[]> {
  const read = (await readFiles(paths)).map(readYaml)
  const problems: Problem[] = read.flatMap((file) => file.problems)
  const parts = read.flatMap(({ document }): Part[] =>
    (document?.content.accounts ?? []).map((account, index) => ({
      ...{ account, path: ['accounts', index] },
      document: document as ReadDocument,
    })),
  )
  const accounts = [...Map.groupBy(parts, ({ account }) => account.id ?? `name ${account.name.trim()}`).values()].map(
    (group) => mergeAccount(group, problems),
  )
  // An account that one file names by its identifier and another one by its name would be two.
  refuseTwins(accounts, ({ name }) => `sub-account ${name}`, problems)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return accounts
}

type Twin = {
  readonly name: string
  readonly id?: string | undefined
  readonly at: (...path: string[]) => Problem['at'] & object
}

/** Two entries of one name are allowed where their identifiers differ. */
function refuseTwins(entries: readonly Twin[], describe: (entry: Twin) => string, problems: Problem[]): void {
  for (const [, group] of Map.groupBy(entries, ({ name }) => name)) {
    const [first, ...others] = group
    if (!first || others.length === 0) continue
    const ids = group.map(({ id }) => id)
    if (ids.every((id) => id !== undefined) && new Set(ids).size === ids.length) continue
    for (const other of others) {
      const where = describePosition(first.at())
      problems.push({ message: `The ${describe(other)} is at ${where}, too: remove one of both.`, at: other.at() })
    }
  }
}

function mergeAccount(parts: readonly Part[], problems: Problem[]): DesiredAccount {
  const [first] = parts
  if (!first) throw new Error('An account is in at least one file')
  const { account, document, path } = first
  const name = account.name.trim()
  const locate = (part: Part, ...inside: (string | number)[]) => part.document.at([...part.path, ...inside])
  for (const key of ['enabled', 'name'] as const) {
    const said = parts.filter((part) => part.account[key] !== undefined)
    const other = said.find((part) => trimmed(part.account[key]) !== trimmed(said[0]?.account[key]))
    if (other && said[0])
      problems.push({
        message: `${key} of the sub-account ${name} is different at ${describePosition(locate(said[0], key))}: write it once.`,
        at: locate(other, key),
      })
  }
  const connectors = parts.flatMap((part) =>
    (part.account.connectors ?? []).map((entry, index): DesiredConnector => {
      const at = (...inside: readonly (string | number)[]) => locate(part, 'connectors', index, ...inside)
      const { connector: slug, settings = {}, secrets = {} } = entry
      return { slug, name: entry.name?.trim(), secretName: entry.secretName?.trim(), settings, secrets, at }
    }),
  )
  const connections = parts.flatMap((part) =>
    (part.account.connections ?? []).map((entry, index): DesiredConnection => {
      const at = (...inside: readonly (string | number)[]) => locate(part, 'connections', index, ...inside)
      const sideOf = ({ connector: slug, settings = {} }: { connector: string; settings?: Values }) => ({
        slug,
        settings,
      })
      if (entry.mapping && entry.destination.settings?.mapping !== undefined)
        problems.push({
          message: 'mapping is also in the settings of the destination: write it once.',
          at: at('mapping'),
        })
      const { schedule } = entry
      return {
        name: entry.name.trim(),
        was: (entry.was ?? []).map((one) => one.trim()),
        id: entry.id,
        source: sideOf(entry.source),
        destination: sideOf(entry.destination),
        mapping: entry.mapping,
        schedule: schedule && {
          cron: schedule.cron.trim(),
          timezone: schedule.timezone ?? 'UTC',
          enabled: schedule.enabled ?? true,
        },
        status: entry.status,
        at,
      }
    }),
  )
  const named = connectors.map(({ slug, at }) => ({ name: slug, at }))
  refuseTwins(named, (entry) => `connector ${entry.name} of the sub-account ${name}`, problems)
  refuseTwins(connections, (entry) => `connection ${entry.name} of the sub-account ${name}`, problems)
  return {
    ...{ name, id: account.id, connectors, connections },
    was: [...new Set(parts.flatMap((part) => (part.account.was ?? []).map((one) => one.trim())))],
    enabled: parts.find((part) => part.account.enabled !== undefined)?.account.enabled,
    at: (...inside) => document.at([...path, ...inside]),
  }
}

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value)
