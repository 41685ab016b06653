import { type AlertRule, CreateAlertRule, didYouMean, limits, noAlertConditions, type UserRole } from '@penstock/wire'
import { wordsOfNames } from '../export-names.ts'
import { readAll } from '../read-all.ts'
import {
  type Applying,
  type Change,
  type Entry,
  once,
  type Planning,
  type ResourceKind,
  statesIn,
  type Writing,
} from '../resource-kind.ts'
import { id, list, name, object, of, was } from '../schema-parts.ts'
import { planSecrets, resolveSecrets, type Secrets } from '../secrets.ts'
import { type FieldChange, isSame } from '../values.ts'
import { createOnce, writeUnchanged } from '../writes.ts'
import { connection } from './connection.ts'

type FileAlertRule = {
  name: string
  was?: string[]
  id?: string
  enabled?: boolean
  conditions: Partial<AlertRule['conditions']>
  /** A rule of the organization also names the sub-account. */
  connections?: (string | { account: string; connection: string })[]
  emails?: string[]
  emailRoles?: UserRole[]
  slackUrl?: string | null
  teamsUrl?: string | null
}
/** The values that are compared, in addition to the connections and the secrets. */
type Content = Pick<AlertRule, 'name' | 'enabled' | 'conditions' | 'emails' | 'emailRoles'>
type Named = { readonly account: string; readonly name: string }
type DesiredAlertRule = Entry &
  Omit<Content, 'enabled'> & {
    readonly enabled?: boolean | undefined
    /** Null: all. */
    readonly connections: readonly Named[] | null
    readonly secrets: { readonly slackUrl?: string | null | undefined; readonly teamsUrl?: string | null | undefined }
  }
/** A connection that exists, or that a change creates. */
type Target = { readonly id: string } | { readonly change: Change }
type Own = {
  readonly saves?: Content | undefined
  /** Null: all. */
  readonly connections?: readonly Target[] | null
  readonly secrets?: Secrets
}
type AlertRuleChange = Change<DesiredAlertRule, AlertRule, Own>

const comparable = ({ name, enabled, conditions, emails, emailRoles }: Content) => ({
  name,
  enabled,
  emails: emails.toSorted(),
  emailRoles: emailRoles.toSorted(),
  ...Object.fromEntries(Object.entries(conditions).map(([key, value]) => [`conditions.${key}`, value || null])),
})

/** The differences between two rules, but for the order of their addresses and roles. */
function differencesOf(from: Content, to: Content): FieldChange[] {
  const wanted = comparable(to)
  return Object.entries(comparable(from)).flatMap(([field, value]) => {
    const other = wanted[field as keyof typeof wanted]
    return isSame(value, other) ? [] : [{ field, from: value, to: other }]
  })
}

type ContentWithConnections = Content & Pick<AlertRule, 'connectionIds'>
const differences = (from: ContentWithConnections, to: ContentWithConnections): string[] => [
  ...differencesOf(from, to).map(({ field }) => field),
  ...(isSame(from.connectionIds?.toSorted() ?? null, to.connectionIds?.toSorted() ?? null) ? [] : ['connections']),
]

const chat = (platform: string) => ({
  type: ['string', 'null'],
  maxLength: limits.alertUrlLengthMax,
  description: `Address of ${platform}, by reference: \${env:NAME} or \${file:path}. null removes it. Omitted: no change`,
})

/**
 * Alert rules. The addresses of Slack and Teams are secrets. Like the secrets of connectors, they are sent if they are not set
 * yet, and together with every other change of the rule.
 */
export const alertRule: ResourceKind<'alertRules', FileAlertRule, DesiredAlertRule, AlertRule, Own> = {
  kind: 'alertRule',
  title: 'alert rule',
  list: 'alertRules',
  plural: 'Alert rules',
  key: 'name',
  ofOrganization: true,
  destroyedBy: 'allowDestroy',
  nameOf: ({ name }) => name,
  identifierOf: ({ id }) => id,
  audited: { action: 'updateAlertRule', key: 'name' },
  schema: (ofOrganization) =>
    object(
      ['name', 'conditions'],
      {
        name,
        was,
        id,
        enabled: { ...of(CreateAlertRule, 'enabled'), description: 'Whether it is on. Omitted: no change' },
        conditions: { ...of(CreateAlertRule, 'conditions'), minProperties: 1 },
        connections: {
          ...list(
            ofOrganization
              ? object(['account', 'connection'], { account: name, connection: name }, 'A connection')
              : { ...name, description: 'Name of a connection' },
            'Connections that it covers. Omitted: all, including later ones',
          ),
          maxItems: limits.alertConnectionsMax,
        },
        emails: { ...of(CreateAlertRule, 'emails'), description: 'E-mail addresses. Omitted: none' },
        emailRoles: { ...of(CreateAlertRule, 'emailRoles'), description: 'People by their role. Omitted: none' },
        slackUrl: chat('an incoming webhook of Slack'),
        teamsUrl: chat('a workflow of Microsoft Teams'),
      },
      'An alert rule',
    ),
  parse({ name, was = [], id, enabled, conditions, connections, emails = [], ...entry }, at, account) {
    return {
      name: name.trim(),
      was: was.map((one) => one.trim()),
      id,
      enabled,
      conditions: { ...noAlertConditions, ...conditions },
      connections:
        connections?.map((one) =>
          typeof one === 'string'
            ? { account: account ?? '', name: one.trim() }
            : { account: one.account.trim(), name: one.connection.trim() },
        ) ?? null,
      emails: emails.map((email) => email.trim()),
      emailRoles: entry.emailRoles ?? [],
      secrets: { slackUrl: entry.slackUrl, teamsUrl: entry.teamsUrl },
      at,
    }
  },
  isWide: ({ connections }) => connections !== null,
  write(rule, twin, siblings, { state, account, secret }) {
    const { name, enabled, conditions, connectionIds, emails, emailRoles } = rule
    const names = namesInService(state)
    const covered = connectionIds?.flatMap((id) => names.get(id) ?? [])
    const secretOf = (key: 'slackUrl' | 'teamsUrl') =>
      rule[key] === null ? {} : { [key]: secret(`alert ${wordsOf(siblings)(name)}`, key) }
    return {
      name,
      ...twin,
      enabled,
      conditions: Object.fromEntries(Object.entries(conditions).filter(([, value]) => value)),
      ...(covered
        ? { connections: covered.map((one) => (account ? one.name : { account: one.account, connection: one.name })) }
        : {}),
      ...(emails.length > 0 ? { emails } : {}),
      ...(emailRoles.length > 0 ? { emailRoles } : {}),
      ...secretOf('slackUrl'),
      ...secretOf('teamsUrl'),
    }
  },
  read: (client, accountId) => readAll(client, 'listAlertRules', accountId),
  async diff(rule, existing, _, planning) {
    const { name, conditions, emails, emailRoles, at } = rule
    const secrets = planSecrets(
      rule.secrets,
      {
        isSet: (key) => existing?.[key as keyof DesiredAlertRule['secrets']] != null,
        at: (key) => at(key),
        plain: (key) =>
          `${key} of the alert rule ${name} is in the file in plain text, and everyone who knows it can post to the chat. Write a reference, \${env:NAME} or \${file:path}, and replace the address.`,
      },
      planning,
    )
    const targets = targetsOf(rule, existing, planning)
    const saves = { name, conditions, emails, emailRoles, enabled: rule.enabled ?? existing?.enabled ?? true }
    const nothing = { name, emails: [], emailRoles: [], enabled: true, conditions: noAlertConditions }
    const fields = differencesOf(existing ?? nothing, saves).map(({ from, ...field }) =>
      existing ? { ...field, from } : field,
    )
    if (targets.change) fields.push(targets.change)
    if (existing && fields.length === 0 && !secrets.isChange) return { fields }
    const sent = await secrets.changes('')
    return { fields: [...fields, ...sent.fields], saves, connections: targets.found, secrets: sent.secrets }
  },
  remove: {
    stage: 'alert rules',
    async run({ existing }, { client }) {
      if (!existing) return
      const { id } = existing
      const write = (ifMatch: string | undefined) => client.deleteAlertRule({ id, ifMatch })
      const read = () => client.getAlertRule({ id })
      await writeUnchanged<ContentWithConnections>({ existing, wanted: null, differences, read, write })
    },
  },
  update: {
    stage: 'alert rules',
    async run(change, applying) {
      const { existing, saves } = change
      if (!existing || !saves) return
      const { id } = existing
      const { client } = applying
      const body = await bodyOf(change, saves, applying)
      const wanted = { ...saves, connectionIds: body.connectionIds }
      const write = (ifMatch: string | undefined) => client.updateAlertRule({ id, body, ifMatch })
      const read = () => client.getAlertRule({ id })
      await writeUnchanged<ContentWithConnections>({ existing, wanted, always: true, differences, read, write })
    },
  },
  create: {
    stage: 'alert rules',
    async run(change, applying) {
      const { client, accountIds } = applying
      const { saves, name, account } = change
      const accountId = account === null ? null : accountIds.get(account)
      if (!saves || accountId === undefined) return
      const body = { ...(await bodyOf(change, saves, applying)), accountId }
      await createOnce(
        { kind: 'alert rule', accountId: accountId ?? '', name },
        (idempotencyKey) => client.createAlertRule({ body, idempotencyKey }),
        (id) => client.getAlertRule({ id }),
        async () =>
          (await readAll(client, 'listAlertRules', accountId ?? undefined)).some(
            (rule) => rule.accountId === accountId && rule.name === name,
          ),
      )
    },
  },
}

async function bodyOf(change: AlertRuleChange, saves: Content, { resolver, connections }: Applying) {
  const secrets = await resolveSecrets(change.secrets ?? {}, change.at, resolver)
  const connectionIds =
    change.connections?.map((target) => {
      if ('id' in target) return target.id
      const made = connections.get(target.change)
      if (!made) throw `The connection ${target.change.name} could not be created.`
      return made.id
    }) ?? null
  const { name, enabled, conditions, emails, emailRoles } = saves
  return { name, enabled, conditions, emails, emailRoles, connectionIds, ...secrets }
}

/** The connections that a rule names, without connections that no longer exist. */
function targetsOf(
  rule: DesiredAlertRule,
  existing: AlertRule | undefined,
  planning: Planning,
): { found: Target[] | null; change?: FieldChange | undefined } {
  const { problems } = planning
  const { find, nameOf, namesIn } = connectionsOf(planning)
  const before = existing?.connectionIds?.filter((id) => nameOf(id) !== undefined) ?? null
  const change = (isChanged: boolean): FieldChange | undefined =>
    isChanged
      ? {
          field: 'connections',
          to: rule.connections?.map(({ name }) => name) ?? 'all',
          ...(existing ? { from: existing.connectionIds?.map((id) => nameOf(id) ?? id) ?? 'all' } : {}),
        }
      : undefined
  if (rule.connections === null) return { found: null, change: change(existing !== undefined && before !== null) }
  const found = rule.connections.flatMap((named, index) => {
    const target = find(named)
    if (!target)
      problems.push({
        message: `There is no connection ${named.name} in the sub-account ${named.account}, or several have this name. Correct the name, or write the id.${didYouMean(named.name, namesIn(named.account))}`,
        at: rule.at('connections', index),
      })
    return target ?? []
  })
  const ids = found.map((target) => ('id' in target ? target.id : null))
  const isChanged = !before || ids.includes(null) || !isSame(ids.toSorted(), before.toSorted())
  if (isChanged && rule.connections.length === 0)
    problems.push({
      message: 'connections is empty. Add a connection, or omit the key for all connections.',
      at: rule.at('connections'),
    })
  return { found, change: change(isChanged) }
}

/** The connections that rules can name: by their names in the files, or in the service if no file has them. */
const connectionsOf = once(({ state, accounts, changes }: Planning) => {
  const names = new Map<string, string>()
  const targets = new Map<string, Target | 'several'>()
  const keyOf = ({ account, name }: Named) => JSON.stringify([account, name])
  const all: Named[] = []
  const add = (named: Named, target: Target) => {
    all.push(named)
    targets.set(keyOf(named), targets.has(keyOf(named)) ? 'several' : target)
  }
  const namesInFiles = new Map([...accounts].map(([{ name }, account]) => [account, name]))
  const ofConnections = changes.filter(({ kind }) => kind === connection.kind)
  const changeOf = new Map(ofConnections.map((change) => [(change.existing as { id: string } | undefined)?.id, change]))
  for (const one of state.accounts)
    for (const { id, name } of statesIn(connection, one)) {
      const account = namesInFiles.get(one) ?? one.name
      const change = changeOf.get(id)
      if (change?.action === 'delete') continue
      names.set(id, name)
      const target = change?.action === 'replace' ? { change } : { id }
      add({ account, name: change?.name ?? name }, target)
      targets.set(keyOf({ account, name: id }), target)
    }
  for (const change of ofConnections)
    if (change.action === 'create') add({ account: change.account ?? '', name: change.name }, { change })
  return {
    /** The connection of a name, or of an identifier where several have the name. */
    find: (named: Named): Target | undefined => {
      const found = targets.get(keyOf(named))
      return found === 'several' ? undefined : found
    },
    /** The names of the connections of a sub-account. */
    namesIn: (of: string): string[] => all.filter(({ account }) => account === of).map(({ name }) => name),
    /** The name of a connection that is there. */
    nameOf: (id: string): string | undefined => names.get(id),
  }
})

const wordsOf = once((rules: readonly AlertRule[]) => wordsOfNames(rules.map(({ name }) => name)))

/** How files name the connections of a service: by their names, or by their identifiers where several have one. */
const namesInService = once(({ accounts }: Writing['state']) => {
  const names = new Map<string, Named>()
  for (const account of accounts) {
    const connections = statesIn(connection, account)
    const counts = Map.groupBy(connections, ({ name }) => name)
    for (const { id, name } of connections)
      names.set(id, { account: account.name, name: (counts.get(name)?.length ?? 0) > 1 ? id : name })
  }
  return names
})
