import type { Values } from '@penstock/connector'
import { dataManagerAuthorization } from '../google/authorization.ts'
import { type Auth, idSetting, restApi } from '../kit/api.ts'
import { errorOfGoogle } from './google-errors.ts'

/** An account of a Google product: the owner of the data, or the account that signs in on the owner's behalf. */
type Account = { readonly accountType: string; readonly accountId: string }

/** The account that owns the lists or conversions, and the account through which the user accesses it, if another. */
export type Accounts = { readonly operating: Account; readonly login: Account | undefined }

/** The accounts that the settings of a connection mean. The ID is empty if the setting is, as in a check without a connection. */
export type AccountsOf = (settings: Values) => Accounts

export const accountName = ({ accountType, accountId }: Account) => `accountTypes/${accountType}/accounts/${accountId}`

/** A Google Ads account. */
export const googleAdsAccounts: AccountsOf = ({ customerId, advertiserId, managerAccountId }) =>
  accountsOf(['GOOGLE_ADS', customerId ?? advertiserId], ['GOOGLE_ADS', managerAccountId])

/** A Display & Video 360 advertiser, and the partner through which the user reaches it. */
export const displayVideoAccounts: AccountsOf = ({ advertiserId, partnerId, managerAccountId }) =>
  accountsOf(['DISPLAY_VIDEO_ADVERTISER', advertiserId], ['DISPLAY_VIDEO_PARTNER', partnerId ?? managerAccountId])

type OneOf = readonly [type: string, id: unknown]

function accountsOf(owner: OneOf, user: OneOf): Accounts {
  // People copy customer IDs with their dashes.
  const [operating, login] = [owner, user].map(([accountType, id]) => ({
    accountType,
    accountId: String(id ?? '').replace(/[\s-]/g, ''),
  })) as [Account, Account]
  return { operating, login: login.accountId === '' ? undefined : login }
}

/** A setting that is the ID of an account. */
export const accountSetting = (
  label: string,
  description: string,
  options: { readonly required?: boolean; readonly needed?: boolean } = {},
) => idSetting({ label, description, ...options, pattern: /^\d[\d\s-]*$/, example: '123-456-7890' })

/** The setting of the manager account of a Google Ads account. */
export const managerAccountSetting = accountSetting(
  'Manager account ID',
  'ID of the manager account, unless the user has direct access to the account',
)

/** A list or a conversion action as requests name it. */
export const destinationOf = ({ operating, login }: Accounts, id: string | undefined): object => ({
  operatingAccount: operating,
  ...(login ? { loginAccount: login } : {}),
  productDestinationId: id,
})

/** Google's Data Manager API, which the Google Ads and Display & Video 360 connectors call. */
export const dataManager = (accounts: AccountsOf) => ({
  tested:
    'Our own test server, which follows the published documentation of Google’s token endpoint and its Data Manager API; not Google itself.',
  api: {
    version: 'Data Manager API v1 (release 1.9 of 4 November 2026)',
    ends: 'Google has announced no end of v1, which it extends in numbered releases',
  },
  authorization: dataManagerAuthorization,
  platformApi: restApi({
    name: 'Google',
    baseUrl: 'https://datamanager.googleapis.com/v1',
    errorOf: errorOfGoogle,
  }),
  auth: {
    open: async (context) => {
      const { login } = accounts(context.settings)
      return (await import('./access.ts')).dataManagerTokens(context, login && accountName(login))
    },
  } satisfies Auth,
})
