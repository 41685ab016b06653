import { type Batch, ConnectorError, type Values } from '@penstock/connector'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { eventIdOf, type Read, wrong } from '../platform-api/rows/events.ts'
import { readTimeMs } from '../platform-api/rows/milliseconds.ts'

export type LinkedInConversion = {
  readonly conversion: string
  readonly conversionHappenedAt: number
  readonly conversionValue?: { readonly currencyCode: string; readonly amount: string }
  readonly eventId: string
  readonly user: {
    readonly userIds: readonly { readonly idType: string; readonly idValue: string }[]
    readonly userInfo?: Readonly<Record<string, string>>
    readonly externalIds?: readonly string[]
  }
}

/** What every row shares: the rule that is set, and the currency of values that name none. */
export type LinkedInConversionDefaults = { readonly rule: string | undefined; readonly currency: string | undefined }

const rulePrefix = 'urn:lla:llaPartnerConversion:'
/** LinkedIn refuses older conversions. */
const daysMax = 90

/** Our columns and LinkedIn's kinds of identifiers, in the order in which they are sent. */
const idTypes = {
  email: 'SHA256_EMAIL',
  li_fat_id: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID',
  acxiom_id: 'ACXIOM_ID',
  oracle_moat_id: 'ORACLE_MOAT_ID',
  google_aid: 'GOOGLE_AID',
  ip_address: 'PLAINTEXT_IP_ADDRESS',
} as const

/** The URN of a conversion rule that is named by its number or its URN. */
function ruleUrn(text: string): string | undefined {
  const digits = text.startsWith(rulePrefix) ? text.slice(rulePrefix.length) : text
  return /^\d+$/.test(digits) ? rulePrefix + digits : undefined
}

export function conversionDefaults({ conversionRuleId, currency }: Values): LinkedInConversionDefaults {
  const named = String(conversionRuleId ?? '').trim()
  const rule = named === '' ? undefined : ruleUrn(named)
  if (named !== '' && rule === undefined) {
    throw new ConnectorError(
      'invalid_setting',
      'Conversion rule ID must be the number of a conversion rule at LinkedIn.',
    )
  }
  const code = String(currency ?? '')
    .trim()
    .toUpperCase()
  if (code !== '' && !isCurrency(code)) {
    throw new ConnectorError('invalid_setting', 'Currency must be the three letters of a currency, such as EUR.')
  }
  return { rule, currency: code || undefined }
}

const isCurrency = (code: string): boolean => /^[A-Z]{3}$/.test(code)

/** Makes a conversion of a row, or says why LinkedIn would refuse it. */
export function conversionOf(
  defaults: LinkedInConversionDefaults,
  batch: Batch,
  row: BatchRow,
): Read<LinkedInConversion> {
  const named = row.text('conversion_rule_id')
  const conversion = named === undefined ? defaults.rule : ruleUrn(named)
  if (conversion === undefined) {
    const reason =
      named === undefined
        ? 'Neither the row nor the connection has a conversion rule.'
        : 'A conversion rule of LinkedIn has a number as its ID.'
    return wrong(reason, 'conversion_rule_id')
  }
  const time = readTimeMs(row, 'event_time', daysMax)
  if ('wrong' in time) return time
  const value = moneyOf(defaults, row)
  if ('wrong' in value) return value
  const user = userOf(row)
  if ('wrong' in user) return user
  return {
    read: {
      conversion,
      conversionHappenedAt: time.read,
      ...(value.read ? { conversionValue: value.read } : {}),
      eventId: eventIdOf(batch, row),
      user: user.read,
    },
  }
}

/** LinkedIn wants the amount as a text. */
function moneyOf(defaults: LinkedInConversionDefaults, row: BatchRow): Read<LinkedInConversion['conversionValue']> {
  const amount = row.text('value')
  if (amount === undefined) return { read: undefined }
  if (!/^\d+(\.\d+)?$/.test(amount)) return wrong('The value must be a number such as 49.90.', 'value')
  const currencyCode = row.text('currency')?.toUpperCase() ?? defaults.currency
  if (currencyCode === undefined) return wrong('The value needs a currency.', 'currency')
  if (!isCurrency(currencyCode)) return wrong('The currency must be three letters, such as EUR.', 'currency')
  return { read: { currencyCode, amount } }
}

function userOf(row: BatchRow): Read<LinkedInConversion['user']> {
  const userIds: { idType: string; idValue: string }[] = []
  for (const [column, idType] of Object.entries(idTypes)) {
    const idValue = row.text(column)
    if (idValue === undefined) continue
    if (column === 'email' && !isSha256(idValue)) {
      return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    }
    // LinkedIn matches no other addresses; what else identifies the person is sent without it.
    if (column === 'ip_address' && !isIpv4(idValue)) continue
    userIds.push({ idType, idValue })
  }
  const userInfo = userInfoOf(row)
  const externalId = row.text('external_id')
  if (userIds.length === 0 && userInfo === undefined && externalId === undefined) {
    const reason = 'The row has nothing that LinkedIn can use to find the person: neither an identifier nor both names.'
    return wrong(reason, 'email')
  }
  return {
    read: {
      userIds,
      ...(userInfo ? { userInfo } : {}),
      ...(externalId === undefined ? {} : { externalIds: [externalId] }),
    },
  }
}

/** LinkedIn takes what is known of the person in the clear, and only with both names. */
function userInfoOf(row: BatchRow): Record<string, string> | undefined {
  const [firstName, lastName] = [row.text('first_name'), row.text('last_name')]
  if (firstName === undefined || lastName === undefined) return undefined
  const [title, companyName] = [row.text('title'), row.text('company')]
  const countryCode = row.text('country')?.toUpperCase()
  return {
    firstName,
    lastName,
    ...(title === undefined ? {} : { title }),
    ...(companyName === undefined ? {} : { companyName }),
    ...(countryCode === undefined ? {} : { countryCode }),
  }
}

const isIpv4 = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && text.split('.').every((part) => Number(part) < 256)
