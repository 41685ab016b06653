import { type BodyOf, limits, noAlertConditions, secretMask } from '@penstock/wire'
import { requireScope } from '../access.ts'
import type { Actor, Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import { databaseNow } from '../db/clock.ts'
import type { Db, Transaction } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { newIdentifier } from '../identifiers.ts'
import type { Mailer } from '../mail.ts'
import { requireAccounts } from '../organizations/clients.ts'
import { OutgoingError, parseOutgoingUrl } from '../outgoing/outgoing.ts'
import { refuse, refuseFieldErrors, requireShare } from '../refusal.ts'
import { makeDataKey, openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { MasterKey } from '../secrets/seal.ts'
import { sealAddress, type WebhookChannel } from './addresses.ts'
import { queueTests } from './announce.ts'
import * as queries from './rule-queries.ts'
import { sweepRule } from './sweep-queries.ts'
import { etagOf, viewRule } from './view.ts'

/**
 * Alert rules: what they look for, and where they send messages. A rule belongs to the organization or to one sub-account.
 * Actors who are limited to sub-accounts see and create only rules of these.
 */

/** Dependencies of the handlers of alerts. */
export type AlertDeps = { readonly config: Config; readonly keyring: Keyring; readonly mailer: Mailer }

export async function listAlertRules(
  { db, actor: { organizationId, accountIds }, account, query: { q, size, offset } }: Call<'listAlertRules'>,
  { mailer }: AlertDeps,
): Promise<Answer<'listAlertRules'>> {
  const filter = { organizationId, accountIds, accountId: account?.id ?? null, like: containing(q) }
  const [rows, count] = await Promise.all([
    queries.listRules.all(db, { ...filter, size, offset }),
    queries.countRules.first(db, filter),
  ])
  return { reply: rows.map((row) => viewRule(row, mailer.isSetUp)), total: count?.total ?? 0 }
}

export async function getAlertRule(
  { db, actor, id }: Call<'getAlertRule'>,
  { mailer }: AlertDeps,
): Promise<Answer<'getAlertRule'>> {
  const row = await requireRule(db, actor, id)
  return { reply: viewRule(row, mailer.isSetUp), etag: etagOf(row) }
}

/**
 * Refuses with `quota_exceeded` if the organization or the sub-account has too many rules, and with `forbidden` an actor who is
 * not allowed to read what the messages contain.
 */
export async function createAlertRule(
  { db: tx, actor, body }: Call<'createAlertRule'>,
  deps: AlertDeps,
): Promise<Answer<'createAlertRule'>> {
  requireScope(actor, 'alerts:read')
  const { organizationId } = actor
  const accountId = body.accountId ?? null
  if (accountId === null && actor.accountIds !== null) {
    const message = 'you are limited to named sub-accounts: name the one that the rule is for'
    refuse('forbidden', [{ field: 'body.accountId', message }])
  }
  await requireAccounts(tx, actor, accountId === null ? [] : [accountId], () => 'body.accountId')
  await queries.lockOrganization.first(tx, { organizationId })
  const count = await queries.countForQuota.first(tx, { organizationId, accountId })
  requireShare(
    count ?? { total: 0, ofAccount: 0 },
    { total: limits.alertRulesMax, ofAccount: limits.alertRulesOfAccountMax },
    {
      field: 'alertRules',
      what: 'of the organization',
      ofAccount: 'of a sub-account',
      advice: 'delete rules that are not needed, or let one rule cover several connections',
    },
  )
  const id = newIdentifier()
  const content = await contentOf(tx, { organizationId, accountId }, { ...fresh, id }, body, deps)
  await queries.insertRule.run(tx, { ...content, organizationId, accountId })
  await sweepRule.run(tx, { id })
  const reply = viewRule(await requireRule(tx, actor, id), deps.mailer.isSetUp)
  return { reply, audited: { details: secretsIn(body) } }
}

export async function updateAlertRule(
  { db: tx, actor, id, body, precondition }: Call<'updateAlertRule'>,
  deps: AlertDeps,
): Promise<Answer<'updateAlertRule'>> {
  const before = await lockRule(tx, actor, id)
  precondition.check(etagOf(before))
  if (sendsMore(before, body)) requireScope(actor, 'alerts:read')
  const content = await contentOf(tx, before, before, body, deps)
  const clearError =
    body.slackUrl !== undefined ||
    body.teamsUrl !== undefined ||
    body.emails !== undefined ||
    body.emailRoles !== undefined
  await queries.updateRule.run(tx, { ...content, clearError })
  await sweepRule.run(tx, { id })
  const now = await requireRule(tx, actor, id)
  const [was, is] = [viewRule(before, deps.mailer.isSetUp), viewRule(now, deps.mailer.isSetUp)]
  const details = secretsIn(body)
  return { reply: is, etag: etagOf(now), audited: { before: was, ...(details.secrets.length > 0 ? { details } : {}) } }
}

export async function deleteAlertRule(
  { db: tx, actor, id, precondition }: Call<'deleteAlertRule'>,
  { mailer }: AlertDeps,
): Promise<Answer<'deleteAlertRule'>> {
  const row = await lockRule(tx, actor, id)
  precondition.check(etagOf(row))
  await queries.deleteRule.run(tx, { id })
  return { reply: { done: true }, audited: { before: viewRule(row, mailer.isSetUp), after: null } }
}

export async function muteAlertRule(
  { db: tx, actor, id, body, precondition }: Call<'muteAlertRule'>,
  { mailer }: AlertDeps,
): Promise<Answer<'muteAlertRule'>> {
  const before = await lockRule(tx, actor, id)
  precondition.check(etagOf(before))
  const until = body.until === null ? null : new Date(body.until * 1_000)
  const days = until ? (until.getTime() - (await databaseNow(tx)).getTime()) / 86_400_000 : 0
  if (until && (days <= 0 || days > limits.alertMuteDaysMax)) {
    const message = `must be in the future, at most ${limits.alertMuteDaysMax} days from now`
    refuse('invalid_request', [{ field: 'body.until', message }])
  }
  await queries.muteRule.run(tx, { id, until })
  const now = await requireRule(tx, actor, id)
  const reply = viewRule(now, mailer.isSetUp)
  return { reply, etag: etagOf(now), audited: { before: viewRule(before, mailer.isSetUp) } }
}

export async function testAlertRule(
  { db: tx, actor, id }: Call<'testAlertRule'>,
  { mailer }: AlertDeps,
): Promise<Answer<'testAlertRule'>> {
  const row = await lockRule(tx, actor, id)
  const queued = await queueTests(tx, row, mailer.isSetUp)
  if (queued === 0) refuse('alert_rule_without_channel')
  return { reply: { queued } }
}

/** Whether a change makes the rule send more messages, or send them elsewhere. Renaming a rule or turning it off does not. */
function sendsMore(before: queries.RuleContent, body: BodyOf<'updateAlertRule'>): boolean {
  const { connectionIds, conditions, emails, emailRoles, slackUrl, teamsUrl } = body
  const isGiven = (address: string | null | undefined) =>
    address !== undefined && address !== null && address !== secretMask
  if (body.enabled === true && !before.enabled) return true
  if (isGiven(slackUrl) || isGiven(teamsUrl)) return true
  return [connectionIds, conditions, emails, emailRoles].some((one) => one !== undefined)
}

/** A rule that says nothing yet. */
const fresh: Omit<queries.RuleContent, 'id'> = {
  name: '',
  connectionIds: null,
  enabled: true,
  emails: [],
  emailRoles: [],
  ...noAlertConditions,
  dataKeyId: null,
  slackSealed: null,
  teamsSealed: null,
}

/** Content of a rule after a request has changed it. */
async function contentOf(
  tx: Transaction,
  { organizationId, accountId }: { organizationId: string; accountId: string | null },
  before: queries.RuleContent,
  body: BodyOf<'updateAlertRule'>,
  deps: AlertDeps,
): Promise<queries.RuleContent> {
  const asked = body.conditions && { ...noAlertConditions, ...body.conditions }
  if (asked && !Object.values(asked).some((one) => one !== null && one !== false)) {
    refuse('invalid_request', [{ field: 'body.conditions', message: 'name at least one condition' }])
  }
  await requireConnections(tx, { organizationId, accountId }, body.connectionIds ?? [])
  return {
    ...before,
    ...asked,
    name: body.name?.trim() ?? before.name,
    connectionIds: body.connectionIds === undefined ? before.connectionIds : body.connectionIds,
    enabled: body.enabled ?? before.enabled,
    emails: body.emails?.map((email) => email.trim()) ?? before.emails,
    emailRoles: body.emailRoles ?? before.emailRoles,
    ...(await sealedOf(tx, before, body, deps)),
  }
}

const channels = ['slack', 'teams'] as const satisfies WebhookChannel[]

/** The addresses of Slack and Teams in the form in which they are stored. */
async function sealedOf(
  tx: Transaction,
  { id, dataKeyId, slackSealed, teamsSealed }: queries.RuleContent,
  body: BodyOf<'updateAlertRule'>,
  { config, keyring }: AlertDeps,
): Promise<Pick<queries.RuleContent, 'dataKeyId' | 'slackSealed' | 'teamsSealed'>> {
  const given = { slack: body.slackUrl, teams: body.teamsUrl }
  refuseFieldErrors(
    channels.flatMap((channel) => {
      const message = given[channel] && given[channel] !== secretMask && fieldErrorOf(given[channel], config)
      return message ? [{ field: `body.${channel}Url`, message }] : []
    }),
  )
  let key: MasterKey | undefined
  let keyId = dataKeyId
  const sealed = { slack: slackSealed, teams: teamsSealed }
  for (const channel of channels) {
    const url = given[channel]
    if (url === undefined || url === secretMask) continue
    if (url === null) sealed[channel] = null
    else {
      if (!key && keyId !== null) key = await openDataKey(tx, keyring, keyId)
      if (!key) ({ key, id: keyId } = await makeDataKey(tx, keyring))
      sealed[channel] = sealAddress(key, id, channel, url)
    }
  }
  const isSealed = sealed.slack !== null || sealed.teams !== null
  return { dataKeyId: isSealed ? keyId : null, slackSealed: sealed.slack, teamsSealed: sealed.teams }
}

function fieldErrorOf(url: string, { plainHttp }: Config): string | undefined {
  try {
    parseOutgoingUrl(url, plainHttp)
    return undefined
  } catch (error) {
    if (error instanceof OutgoingError) return error.message
    throw error
  }
}

/** The names of secrets that a request saves or removes. */
const secretsIn = (body: BodyOf<'updateAlertRule'>) => ({
  secrets: channels
    .map((channel) => `${channel}Url` as const)
    .filter((key) => body[key] !== undefined && body[key] !== secretMask),
})

async function requireConnections(
  tx: Transaction,
  scope: { organizationId: string; accountId: string | null },
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const found = new Set((await queries.findConnections.all(tx, { ...scope, ids })).map(({ id }) => id))
  const message = `is not a connection of the ${scope.accountId === null ? 'organization' : 'sub-account'}`
  refuseFieldErrors(
    ids.flatMap((id, index) => (found.has(id) ? [] : [{ field: `body.connectionIds.${index}`, message }])),
  )
}

async function requireRule(db: Db, { organizationId, accountIds }: Actor, id: string): Promise<queries.RuleRow> {
  return (await queries.findRule.first(db, { organizationId, accountIds, id })) ?? refuse('not_found')
}

async function lockRule(tx: Transaction, { organizationId, accountIds }: Actor, id: string): Promise<queries.RuleRow> {
  return (await queries.lockRule.first(tx, { organizationId, accountIds, id })) ?? refuse('not_found')
}
