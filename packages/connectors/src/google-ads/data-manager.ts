import type { ConnectorContext } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import type { AccessTokens } from '../platform-api/oauth.ts'
import { googleTokens } from './access.ts'
import { type Accounts, accountName } from './accounts.ts'
import { connectorErrorOfGoogle, reasonsOf } from './google-errors.ts'

export const dataManagerOrigin = 'https://datamanager.googleapis.com'
const scope = 'https://www.googleapis.com/auth/datamanager'

/** Google's Data Manager API, signed in. Everything throws connector errors. */
export type DataManager = Accounts & { readonly tokens: AccessTokens; readonly ask: PlatformClient['askObject'] }

export function openDataManager(context: ConnectorContext, { operating, login }: Accounts): DataManager {
  const tokens = googleTokens(context, scope)
  const { askObject } = openPlatform(context, {
    name: 'Google',
    baseUrl: `${dataManagerOrigin}/v1`,
    headers: login ? { 'login-account': accountName(login) } : {},
    credentials: tokens,
    errorOf: (answer) => (answer.status >= 200 && answer.status < 300 ? undefined : connectorErrorOfGoogle(answer)),
  })
  return { tokens, operating, login, ask: askObject }
}

/** A list or a conversion action as requests name it. */
export const destinationOf = ({ operating, login }: Accounts, id: string): object => ({
  operatingAccount: operating,
  ...(login ? { loginAccount: login } : {}),
  productDestinationId: id,
})

/** Whether an answer gives one of these reasons. */
export const hasReason =
  (...reasons: readonly string[]) =>
  (answer: Answer): boolean =>
    reasonsOf(answer.json).some((reason) => reasons.includes(reason))
