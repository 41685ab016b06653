import { type ConnectorContext, ConnectorError, type Values } from '@penstock/connector'
import { type Accounts, googleAdsAccounts } from './accounts.ts'

/** Where events happen, in Google's words. */
export type EventSource = 'WEB' | 'APP' | 'IN_STORE' | 'PHONE' | 'MESSAGE' | 'OTHER'

/** What the conversions of a connector are. */
export type ConversionPlan = Accounts & {
  /** The conversion action of rows that name none. */
  readonly conversionAction: string | undefined
  /** Where events happened, for rows that do not say so. */
  readonly source: EventSource
  /** Whether a row must name the click that it goes back to. */
  readonly needsClick: boolean
  /** The settings that say what people consented to: `adUserDataConsent`, `adPersonalizationConsent`. */
  readonly consents: Values
  /** How long to wait in the end for Google to say what it did not use, in milliseconds. */
  readonly waitMs: number
}

/** The conversions that a connection's settings mean; account and conversion action may be missing. */
export function conversionPlan(
  settings: Values,
  { source, needsClick }: Pick<ConversionPlan, 'source' | 'needsClick'>,
): ConversionPlan {
  const { customerId, managerAccountId, conversionActionId, eventSource, resultWaitSeconds } = settings
  return {
    ...googleAdsAccounts([customerId, 'Customer ID'], [managerAccountId, 'Manager account ID']),
    conversionAction: conversionActionId === undefined ? undefined : actionOfSetting(conversionActionId),
    source: eventSource === undefined ? source : (eventSourceOf(String(eventSource)) ?? source),
    needsClick,
    consents: settings,
    waitMs: Number(resultWaitSeconds ?? 0) * 1000,
  }
}

/** Throws `invalid_setting` where it is not known whose conversions they are. */
export function assertComplete(plan: ConversionPlan, { columns }: { readonly columns: readonly string[] }): void {
  const missing = !plan.operating.accountId
    ? 'Customer ID'
    : plan.conversionAction === undefined && !columns.includes('conversion_action_id')
      ? 'Conversion action ID'
      : undefined
  if (missing === undefined) return
  throw new ConnectorError(
    'invalid_setting',
    `Google needs to know which account conversions belong to; fill in “${missing}”.`,
  )
}

function actionOfSetting(setting: unknown): string {
  const id = conversionActionOf(String(setting).trim())
  if (id !== undefined) return id
  const message =
    'Conversion action ID must be the number of a conversion action in Google Ads, which follows ctId= in the address of its page.'
  throw new ConnectorError('invalid_setting', message)
}

/** The number of a conversion action, be it written as the Google Ads API names it. */
export const conversionActionOf = (text: string): string | undefined =>
  /^(?:customers\/\d+\/conversionActions\/)?(\d+)$/.exec(text)?.[1]

const sources: ReadonlySet<string> = new Set(['WEB', 'APP', 'IN_STORE', 'PHONE', 'MESSAGE', 'OTHER'])

/** Where an event happened: `in_store`, `In store`. */
export function eventSourceOf(text: string): EventSource | undefined {
  const source = text
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_')
  return sources.has(source) ? (source as EventSource) : undefined
}

/** What a connector's definition says of its conversions. */
export type ConversionsOf = (context: Pick<ConnectorContext, 'settings'>) => ConversionPlan

export const conversions: ConversionsOf = ({ settings }) =>
  conversionPlan(settings, { source: 'WEB', needsClick: false })
export const clickConversions: ConversionsOf = ({ settings }) =>
  conversionPlan(settings, { source: 'WEB', needsClick: true })
export const storeConversions: ConversionsOf = ({ settings }) =>
  conversionPlan(settings, { source: 'IN_STORE', needsClick: false })
