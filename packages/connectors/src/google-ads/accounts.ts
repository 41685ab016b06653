import { ConnectorError } from '@penstock/connector'

/** An account of a Google product: whose data it is, or who signs in on its behalf. */
export type Account = { readonly accountType: string; readonly accountId: string }

/** Whose lists or conversions they are, and through which account the user reaches them where that is another one. */
export type Accounts = { readonly operating: Account; readonly login: Account | undefined }

export const accountName = ({ accountType, accountId }: Account) => `accountTypes/${accountType}/accounts/${accountId}`

/** An account in a setting: its value, and its label for messages. */
type AccountSetting = readonly [value: unknown, label: string]

/** A Google Ads account. Its ID is empty where the setting is, as in a check without a connection. */
export const googleAdsAccounts = (customer: AccountSetting, manager: AccountSetting): Accounts =>
  accountsOf('GOOGLE_ADS', customer, 'GOOGLE_ADS', manager)

/** A Display & Video 360 advertiser, and the partner through which the user reaches it. */
export const displayVideoAccounts = (advertiser: AccountSetting, partner: AccountSetting): Accounts =>
  accountsOf('DISPLAY_VIDEO_ADVERTISER', advertiser, 'DISPLAY_VIDEO_PARTNER', partner)

function accountsOf(type: string, operating: AccountSetting, loginType: string, login: AccountSetting): Accounts {
  const loginId = digitsOf(login)
  return {
    operating: { accountType: type, accountId: digitsOf(operating) },
    login: loginId ? { accountType: loginType, accountId: loginId } : undefined,
  }
}

/** People copy customer IDs with their dashes. */
function digitsOf([value, label]: AccountSetting): string {
  if (value === undefined) return ''
  const digits = String(value).replace(/[\s-]/g, '')
  if (/^\d*$/.test(digits)) return digits
  throw new ConnectorError('invalid_setting', `${label} must be a number of Google, such as 123-456-7890.`)
}
