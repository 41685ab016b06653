import type {
  Desired,
  DesiredAccount,
  DesiredAlertRule,
  DesiredConnection,
  DesiredConnector,
  DesiredWebhook,
  Locate,
  Values,
} from './desired.ts'
import { readFiles } from './find-files.ts'
import { refuseTwins } from './match.ts'
import { ConfigurationError, describePosition, type Problem } from './problems.ts'
import { type FileAccount, type FileAlertRule, type FileWebhook, type ReadDocument, readYaml } from './read-yaml.ts'

/** A sub-account of one file. */
type Part = {
  readonly account: FileAccount
  readonly document: ReadDocument
  readonly path: readonly (string | number)[]
}

/**
 * Reads files and directories, and puts together what they say of the organization and of each sub-account.
 * @throws ConfigurationError with everything that is wrong in all of them
 */
export async function loadDesired(paths: readonly string[]): Promise<Desired> {
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
  const documents = read.flatMap(({ document }) => document ?? [])
  const organization = {
    webhooks: listOf(documents, ({ content }) => content.webhooks, 'webhooks', readWebhook),
    alertRules: listOf(
      documents,
      ({ content }) => content.alertRules,
      'alertRules',
      (entry, at) =>
        readAlertRule(entry, at, ({ account, connection }) => ({ account: account.trim(), name: connection.trim() })),
    ),
  }
  refuseTwins(organization.alertRules ?? [], ({ name }) => `alert rule ${name}`, problems)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return { accounts, organization }
}

/** Which sub-accounts the files are about: those that they have, or all where a rule of the organization names connections. */
export function isWanted({ accounts, organization }: Desired): (account: { id: string; name: string }) => boolean {
  if (organization.alertRules?.some(({ connections }) => connections !== null)) return () => true
  const names = new Set(accounts.flatMap(({ name, was }) => [name, ...was]))
  const ids = new Set(accounts.map(({ id }) => id))
  return ({ id, name }) => names.has(name) || ids.has(id)
}

/** The entries that the files have of the organization itself; undefined where none has the list. */
function listOf<F, D>(
  documents: readonly ReadDocument[],
  entriesOf: (document: ReadDocument) => readonly F[] | undefined,
  key: string,
  read: (entry: F, at: Locate) => D,
): D[] | undefined {
  const having = documents.filter((document) => entriesOf(document))
  if (having.length === 0) return undefined
  return having.flatMap((document) =>
    (entriesOf(document) ?? []).map((entry, index) => read(entry, (...inside) => document.at([key, index, ...inside]))),
  )
}

const readWebhook = (entry: FileWebhook, at: Locate): DesiredWebhook => ({
  ...{ url: entry.url.trim(), was: entry.was ?? [], id: entry.id, description: entry.description ?? '' },
  ...{ eventTypes: entry.eventTypes ?? null, enabled: entry.enabled, at },
})

function readAlertRule<C>(
  entry: FileAlertRule<C>,
  at: Locate,
  readConnection: (connection: C) => { account: string; name: string },
): DesiredAlertRule {
  const { transferFailed = false, connectionBroken = false } = entry.conditions
  const { rejectedPercent = null, noSuccessHours = null, volumePercent = null } = entry.conditions
  return {
    ...{
      name: entry.name.trim(),
      was: (entry.was ?? []).map((one) => one.trim()),
      id: entry.id,
      enabled: entry.enabled,
    },
    conditions: { transferFailed, connectionBroken, rejectedPercent, noSuccessHours, volumePercent },
    connections: entry.connections?.map(readConnection) ?? null,
    emails: entry.emails?.map((email) => email.trim()) ?? [],
    emailRoles: entry.emailRoles ?? [],
    secrets: { slackUrl: entry.slackUrl, teamsUrl: entry.teamsUrl },
    at,
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
  const owned = <F, D>(
    list: (account: FileAccount) => readonly F[] | undefined,
    key: string,
    read: (entry: F, at: Locate) => D,
  ) =>
    parts.flatMap((part) =>
      (list(part.account) ?? []).map((entry, index) => read(entry, (...inside) => locate(part, key, index, ...inside))),
    )
  const webhooks = owned((of) => of.webhooks, 'webhooks', readWebhook)
  const alertRules = owned(
    (of) => of.alertRules,
    'alertRules',
    (entry, at) => readAlertRule(entry, at, (connection) => ({ account: name, name: connection.trim() })),
  )
  const named = connectors.map(({ slug, at }) => ({ name: slug, at }))
  refuseTwins(named, (entry) => `connector ${entry.name} of the sub-account ${name}`, problems)
  refuseTwins(connections, (entry) => `connection ${entry.name} of the sub-account ${name}`, problems)
  refuseTwins(alertRules, (entry) => `alert rule ${entry.name} of the sub-account ${name}`, problems)
  return {
    ...{ name, id: account.id, connectors, connections, webhooks, alertRules },
    was: [...new Set(parts.flatMap((part) => (part.account.was ?? []).map((one) => one.trim())))],
    enabled: parts.find((part) => part.account.enabled !== undefined)?.account.enabled,
    at: (...inside) => document.at([...path, ...inside]),
  }
}

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value)
