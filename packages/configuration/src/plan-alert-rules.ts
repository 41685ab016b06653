import type { AlertRule } from '@penstock/wire'
import type { DesiredAlertRule } from './desired.ts'
import { matchAll } from './match.ts'
import type { AlertRuleChange, ConnectionTarget, Planning, Unmanaged } from './plan.ts'
import { hasReference } from './references.ts'
import { type FieldChange, isSame } from './values.ts'

/** What a secret reads in a file that leaves it as it is; the service shows it so. */
const mask = '********'
const secretKeys = ['slackUrl', 'teamsUrl'] as const
export type AlertSecret = (typeof secretKeys)[number]

/** What is compared of a rule, beside its secrets and its connections. */
export type AlertRuleContent = Pick<AlertRule, 'name' | 'enabled' | 'conditions' | 'emails' | 'emailRoles'>

const comparable = ({ name, enabled, conditions, emails, emailRoles }: AlertRuleContent) => ({
  ...{ name, enabled, emails: emails.toSorted(), emailRoles: emailRoles.toSorted() },
  ...Object.fromEntries(Object.entries(conditions).map(([key, value]) => [`conditions.${key}`, value || null])),
})

/** What differs between two rules, but for the order of their addresses and roles. */
export function differencesOf(from: AlertRuleContent, to: AlertRuleContent): FieldChange[] {
  const wanted = comparable(to)
  return Object.entries(comparable(from)).flatMap(([field, value]) => {
    const other = wanted[field as keyof typeof wanted]
    return isSame(value, other) ? [] : [{ field, from: value, to: other }]
  })
}

/** The connections of a service, as rules name them. */
export type Connections = {
  /** The connection of a name, or of an identifier where several have the name. */
  find(account: string, name: string): ConnectionTarget | undefined
  /** The name of a connection that is there; undefined where there is none. */
  nameOf(id: string): string | undefined
}

/**
 * Plans the alert rules of the organization or of one sub-account. The addresses of Slack and Teams are secrets: as those of
 * connectors, they are sent where none is set yet, and together with every other change of the rule.
 * @param account the name of the sub-account; null: the organization
 */
export async function planAlertRules(
  account: string | null,
  desired: readonly DesiredAlertRule[],
  there: readonly AlertRule[],
  connections: Connections,
  { options, resolver, problems, missing }: Planning,
  unmanaged: Unmanaged[],
): Promise<AlertRuleChange[]> {
  const changes: AlertRuleChange[] = []
  const whose = account === null ? '' : ` of the sub-account ${account}`
  const matched = matchAll(desired, there, ({ name }) => `alert rule ${name}${whose}`, problems)
  for (const rule of desired) {
    const { name, at, conditions, emails, emailRoles } = rule
    const existing = matched.get(rule)
    const { sent, cleared } = readSecrets(rule)
    const targets = targetsOf(rule, existing)
    const wanted = { name, conditions, emails, emailRoles, enabled: rule.enabled ?? existing?.enabled ?? true }
    const nothing = { ...wanted, emails: [], emailRoles: [], enabled: true, conditions: noConditions }
    const fields = differencesOf(existing ?? nothing, wanted).map(({ from, ...field }) =>
      existing ? { ...field, from } : field,
    )
    if (targets.differ)
      fields.push({
        ...{ field: 'connections', to: rule.connections?.map(sayConnection) ?? 'all' },
        ...(existing ? { from: existing.connectionIds?.map((id) => connections.nameOf(id) ?? id) ?? 'all' } : {}),
      })
    const isSet = (key: AlertSecret) => existing?.[key] != null
    const clearedNow = cleared.filter(isSet)
    const sends = [...sent.keys()].some((key) => options.setSecrets || !isSet(key))
    if (existing && fields.length === 0 && clearedNow.length === 0 && !sends) continue
    for (const [key, text] of sent) await resolver.resolve(text, at(key), missing)
    const ofSecrets = [
      ...[...sent.keys()].map((key) => ({ ...{ field: key, to: 'set' }, ...(isSet(key) ? { from: 'set' } : {}) })),
      ...clearedNow.map((key) => ({ field: key, from: 'set' })),
    ].map((field): FieldChange => ({ ...field, secret: true }))
    changes.push({
      ...{ kind: 'alertRule', account, name, at: at('name'), existing, saves: wanted },
      action: existing ? 'update' : 'create',
      fields: [...fields, ...ofSecrets],
      connections: targets.found,
      secrets: { ...Object.fromEntries(sent), ...Object.fromEntries(clearedNow.map((key) => [key, null])) },
    })
  }
  const taken = new Set(matched.values())
  for (const existing of there.filter((one) => !taken.has(one))) {
    const left = { kind: 'alertRule', account, name: existing.name } as const
    if (options.allowDestroy)
      changes.push({ ...left, action: 'delete', fields: [], existing, connections: null, secrets: {} })
    else unmanaged.push(left)
  }
  return changes

  /** The connections that a rule names; those that are gone by now do not count. */
  function targetsOf(
    rule: DesiredAlertRule,
    existing: AlertRule | undefined,
  ): { found: ConnectionTarget[] | null; differ: boolean } {
    const before = existing?.connectionIds?.filter((id) => connections.nameOf(id) !== undefined) ?? null
    if (rule.connections === null) return { found: null, differ: existing !== undefined && before !== null }
    const found = rule.connections.flatMap((named, index) => {
      const target = connections.find(named.account, named.name)
      if (!target)
        problems.push({
          message: `There is no connection ${named.name} in the sub-account ${named.account}, or several have this name: correct it, or write its id.`,
          at: rule.at('connections', index),
        })
      return target ?? []
    })
    const ids = found.map((target) => ('id' in target ? target.id : null))
    const differ = !before || ids.includes(null) || !isSame(ids.toSorted(), before.toSorted())
    if (differ && found.length === 0 && rule.connections.length === 0)
      problems.push({
        message: 'connections is empty: name at least one, or leave it out for all.',
        at: rule.at('connections'),
      })
    return { found, differ }
  }

  function readSecrets({ name, secrets, at }: DesiredAlertRule): {
    sent: Map<AlertSecret, string>
    cleared: AlertSecret[]
  } {
    const sent = new Map<AlertSecret, string>()
    const cleared: AlertSecret[] = []
    for (const key of secretKeys) {
      const text = secrets[key]
      if (text === undefined || text === mask) continue
      if (text === null || text === '') cleared.push(key)
      else if (hasReference(text)) sent.set(key, text)
      else
        problems.push({
          message: `${key} of the alert rule ${name} is in the file, and who has it can post to the chat. Write a reference, \${env:NAME} or \${file:path}, and replace the address.`,
          at: at(key),
        })
    }
    return { sent, cleared }
  }
}

const noConditions: AlertRule['conditions'] = {
  ...{ transferFailed: false, connectionBroken: false },
  ...{ rejectedPercent: null, noSuccessHours: null, volumePercent: null },
}

const sayConnection = ({ name }: { name: string }) => name
