import { asConnectorError, ConnectorError, type SourceContext } from '@penstock/connector'
import { textIn } from '../../platform-api/json.ts'
import { cursorIn } from '../../platform-api/next-page.ts'
import { pagesOf } from '../../platform-api/polling.ts'
import { isZone } from '../report-days.ts'
import type { AccountFacts } from '../report-facts.ts'
import { openApi } from './open-api.ts'
import { bounded } from './report-plan.ts'
import type { ReportReading } from './report-reading.ts'

/** The accounts whose reports are read. */

/** Errors of one account, which stop no other. */
const refusedAlone = [
  'permission_denied',
  'object_not_found',
  'account_restricted',
  'request_refused',
  'unexpected_response',
] as const

/**
 * Whether an error is one of its account, so that others can be read. Some platforms refuse an account like credentials: it is the account,
 * as long as they accept the credentials elsewhere. Throws a transient error of this question.
 */
export async function isRefusedAlone(
  { facts, client }: ReportReading,
  context: SourceContext,
  error: unknown,
): Promise<boolean> {
  const refused = asConnectorError(error)
  if (refused?.action !== 'reauthenticate') return refusedAlone.some((one) => one === refused?.code)
  try {
    await client.ask(facts.check.authentication(context))
    return true
  } catch (other) {
    if (asConnectorError(other)?.action === 'retry') throw other
    return false
  }
}

/** All accounts that the platform lists for these credentials, in the order of their IDs, so that reading can resume. */
export async function listedAccounts({ facts, client, api }: ReportReading, context: SourceContext): Promise<string[]> {
  const { label, id, normal = (text) => text } = facts.accounts
  const listing = facts.listed?.accountIds
  if (!listing) throw new ConnectorError('invalid_setting', `${label}: enter at least one account.`)
  const other =
    (listing.platformApi ?? listing.auth)
      ? openApi(context, listing.platformApi ?? api, listing.auth ?? facts.auth)
      : client
  const asked = await other
  const form = listing.id ?? id
  const found = new Set<string>()
  const read = async (cursor: string | undefined) => {
    if ('read' in listing) return await listing.read(asked, cursor, context)
    const answer = await asked.askObject(listing.page(cursor, context))
    return { items: listing.found(answer), next: cursorIn(listing.next?.(answer, cursor), api.name) }
  }
  for await (const { items } of pagesOf(read)) {
    for (const item of items) {
      const account = textIn(item.id)?.trim() ?? ''
      if (form.test(account)) found.add(normal(account))
    }
    bounded(label, [...found])
  }
  if (found.size > 0) return [...found].sort()
  throw new ConnectorError('object_not_found', `${api.name} lists no account for these credentials.`)
}

/**
 * The facts of an account, and the time zone in which its days begin. Throws a `ConnectorError`, for example if the account is
 * refused.
 */
export async function accountOf(
  { facts: { accounts, days }, client }: ReportReading,
  account: string,
  context: SourceContext,
): Promise<{ about: AccountFacts; zone: string }> {
  const call = accounts.get?.(account, context)
  const first = call ? (accounts.about?.(await client.ask(call), account) ?? {}) : {}
  const about = { ...first, ...(await accounts.more?.(client, account)) }
  const { zone = 'account' } = days ?? {}
  if (zone === 'account') return { about, zone: about.zone !== undefined && isZone(about.zone) ? about.zone : 'UTC' }
  const name = 'fixed' in zone ? zone.fixed : (textIn(context.settings[zone.setting]) ?? 'UTC')
  if (isZone(name)) return { about, zone: name }
  throw new ConnectorError('invalid_setting', `The time zone ${name} does not exist. Enter one such as Europe/Berlin.`)
}
