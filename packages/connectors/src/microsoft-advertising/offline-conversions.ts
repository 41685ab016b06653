import { ConnectorError, type Values } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { readTimeMs } from '../platform-api/rows/milliseconds.ts'

export type OfflineConversion = {
  readonly MicrosoftClickId?: string
  readonly ConversionName: string
  readonly ConversionTime: string
  readonly ConversionValue?: number
  readonly ConversionCurrencyCode?: string
  readonly HashedEmailAddress?: string
  readonly HashedPhoneNumber?: string
  readonly ExternalAttributionCredit?: number
  readonly ExternalAttributionModel?: string
}

/** What every row shares: the goal that is set, and the currency of values that name none. */
export type MicrosoftConversionDefaults = { readonly goal: string | undefined; readonly currency: string | undefined }

/** Microsoft refuses older conversions. */
const daysMax = 90

export function conversionDefaults({ conversionName, currency }: Values): MicrosoftConversionDefaults {
  const code = textIn(currency)?.trim().toUpperCase() || undefined
  if (code !== undefined && !isCurrency(code)) {
    throw new ConnectorError('invalid_setting', 'Currency must be the three letters of a currency, such as EUR.')
  }
  return { goal: textIn(conversionName)?.trim() || undefined, currency: code }
}

const isCurrency = (code: string): boolean => /^[A-Z]{3}$/.test(code)

/** Makes a conversion of a row, or says why Microsoft would refuse it. */
export function conversionOf(defaults: MicrosoftConversionDefaults, row: BatchRow): Read<OfflineConversion> {
  const ConversionName = row.text('conversion_name') ?? defaults.goal
  if (ConversionName === undefined) {
    return wrong('Neither the row nor the connection has a conversion goal.', 'conversion_name')
  }
  const time = readTimeMs(row, 'event_time', daysMax)
  if ('wrong' in time) return time
  const person = personOf(row)
  if ('wrong' in person) return person
  const value = moneyOf(defaults, row)
  if ('wrong' in value) return value
  const attribution = attributionOf(row)
  if ('wrong' in attribution) return attribution
  return {
    read: {
      ...person.read,
      ConversionName,
      ConversionTime: new Date(time.read).toISOString(),
      ...value.read,
      ...attribution.read,
    },
  }
}

type Person = Pick<OfflineConversion, 'MicrosoftClickId' | 'HashedEmailAddress' | 'HashedPhoneNumber'>

function personOf(row: BatchRow): Read<Person> {
  const MicrosoftClickId = row.text('msclkid')
  const HashedEmailAddress = row.text('email')
  const HashedPhoneNumber = row.text('phone')
  for (const [column, digest] of [['email', HashedEmailAddress] as const, ['phone', HashedPhoneNumber] as const]) {
    if (digest !== undefined && !isSha256(digest)) {
      return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    }
  }
  if (MicrosoftClickId === undefined && HashedEmailAddress === undefined && HashedPhoneNumber === undefined) {
    return wrong('The row has neither a click ID nor an e-mail address or phone number.', 'msclkid')
  }
  return {
    read: {
      ...(MicrosoftClickId === undefined ? {} : { MicrosoftClickId }),
      ...(HashedEmailAddress === undefined ? {} : { HashedEmailAddress }),
      ...(HashedPhoneNumber === undefined ? {} : { HashedPhoneNumber }),
    },
  }
}

type Money = Pick<OfflineConversion, 'ConversionValue' | 'ConversionCurrencyCode'>

/** Where a row says nothing of it, the value and the currency of the goal count. */
function moneyOf(defaults: MicrosoftConversionDefaults, row: BatchRow): Read<Money> {
  const value = row.text('value')
  const currency = row.text('currency')?.toUpperCase() ?? (value === undefined ? undefined : defaults.currency)
  if (value !== undefined && !isNumber(value)) return wrong('The value must be a number such as 49.90.', 'value')
  if (currency !== undefined && !isCurrency(currency)) {
    return wrong('The currency must be three letters, such as EUR.', 'currency')
  }
  return {
    read: {
      ...(value === undefined ? {} : { ConversionValue: Number(value) }),
      ...(currency === undefined ? {} : { ConversionCurrencyCode: currency }),
    },
  }
}

type Attribution = Pick<OfflineConversion, 'ExternalAttributionCredit' | 'ExternalAttributionModel'>

function attributionOf(row: BatchRow): Read<Attribution> {
  const credit = row.text('external_attribution_credit')
  const ExternalAttributionModel = row.text('external_attribution_model')
  if (credit !== undefined && !(isNumber(credit) && Number(credit) > 0 && Number(credit) <= 1)) {
    return wrong('The credit must be a number above 0 and up to 1.', 'external_attribution_credit')
  }
  return {
    read: {
      ...(credit === undefined ? {} : { ExternalAttributionCredit: Number(credit) }),
      ...(ExternalAttributionModel === undefined ? {} : { ExternalAttributionModel }),
    },
  }
}

const isNumber = (text: string): boolean => /^\d{1,15}(\.\d{1,10})?$/.test(text)
