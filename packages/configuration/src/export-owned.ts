import type { AlertRule } from '@penstock/wire'
import type { Writing } from './export.ts'
import { byName, escaped, idIfTwin, twinNote, wordsOfNames } from './export-names.ts'
import type { FileAlertRule, FileWebhook } from './read-yaml.ts'
import type { AccountState, ServiceState } from './service-state.ts'

/** Writes the webhooks and the alert rules of the organization, or of one sub-account. */

const whose = (account: AccountState | null) => (account ? ` of the sub-account ${account.name}` : '')
const isOf = (account: AccountState | null) => (one: { accountId: string | null }) =>
  one.accountId === (account?.id ?? null)

export function writeWebhooks(
  { webhooks }: ServiceState,
  account: AccountState | null,
  { notes }: Pick<Writing, 'notes'>,
): FileWebhook[] {
  const own = webhooks.filter(isOf(account)).map((webhook) => ({ ...webhook, name: webhook.url }))
  const written = own.toSorted(byName).map((webhook): FileWebhook => {
    const { url, description, eventTypes, enabled, disabledReason } = webhook
    return {
      ...{ url: String(escaped(url)), ...idIfTwin(own, webhook) },
      ...(description === '' ? {} : { description }),
      ...(eventTypes === null ? {} : { eventTypes: eventTypes.toSorted() }),
      // What the service disabled was enabled by a person.
      enabled: enabled || disabledReason !== null,
    }
  })
  for (const [url, twins] of Map.groupBy(own, ({ name }) => name))
    if (twins.length > 1) notes.push(twinNote(`webhook ${url}${whose(account)}`))
  return written
}

/** @param nameConnection how a rule names a connection: by its name, or by its identifier where several have it */
export function writeAlertRules<C>(
  { accounts, alertRules }: ServiceState,
  account: AccountState | null,
  { notes, variables }: Pick<Writing, 'notes' | 'variables'>,
  nameConnection: (connection: { account: string; name: string }) => C,
): FileAlertRule<C>[] {
  const own = alertRules.filter(isOf(account)).toSorted(byName)
  const wordOf = wordsOfNames(own.map(({ name }) => name))
  const known = new Map<string, { account: string; name: string }>()
  for (const { name: of, connections } of accounts) {
    const counts = Map.groupBy(connections, ({ name }) => name)
    for (const { id, name } of connections)
      known.set(id, { account: of, name: (counts.get(name)?.length ?? 0) > 1 ? id : name })
  }
  const written = own.map((rule): FileAlertRule<C> => {
    const { name, enabled, conditions, connectionIds, emails, emailRoles } = rule
    const secret = (key: 'slackUrl' | 'teamsUrl') =>
      rule[key] === null ? {} : { [key]: `\${env:${variables(account, `alert ${wordOf(name)}`, key)}}` }
    const covered = connectionIds?.flatMap((id) => known.get(id) ?? [])
    return {
      ...{ name, ...idIfTwin(own, rule), enabled },
      conditions: Object.fromEntries(Object.entries(conditions).filter(([, value]) => value)) as Partial<
        AlertRule['conditions']
      >,
      ...(covered ? { connections: covered.map(nameConnection) } : {}),
      ...(emails.length > 0 ? { emails } : {}),
      ...(emailRoles.length > 0 ? { emailRoles } : {}),
      ...{ ...secret('slackUrl'), ...secret('teamsUrl') },
    }
  })
  for (const [name, twins] of Map.groupBy(own, ({ name }) => name))
    if (twins.length > 1) notes.push(twinNote(`alert rule ${name}${whose(account)}`))
  return written
}
