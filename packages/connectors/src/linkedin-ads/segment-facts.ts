import { ConnectorError, type Fields, text } from '@penstock/connector'
import { type IdSetting, idSetting } from '../kit/api.ts'
import type { AudienceDestination } from '../kit/audience-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { linkedinMarketing } from './api.ts'
import { linkedinAuthorization } from './authorization.ts'
import { adAccounts } from './listings.ts'
import { accountForm, accountUrn, roles, rolesMean } from './roles.ts'
import type { MemberKind } from './send-members.ts'
import { signIn } from './sign-in.ts'
import { linkedinApi } from './version.ts'

type Shared =
  | 'api'
  | 'secrets'
  | 'authorization'
  | 'platformApi'
  | 'auth'
  | 'account'
  | 'findAccount'
  | 'settings'
  | 'listed'
  | 'batch'
  | 'lists'
  | 'check'

const settings: Readonly<Record<string, Fields[string] | IdSetting>> = {
  adAccountId: idSetting({
    label: 'Ad account ID',
    description: 'ID of the ad account that owns the segments; needed if rows identify segments by name',
    pattern: accountForm,
    example: '512345678',
  }),
  sourcePlatform: text({
    label: 'Source platform',
    description: 'Name that LinkedIn assigned to your app as a source of segments; needed to create segments',
  }),
}

const segmentsIn = ({ json }: Answer) => listIn(objectIn(json).elements).map(objectIn)
const types = { users: 'USER', companies: 'COMPANY' } as const satisfies Record<MemberKind, string>

/** The facts that DMP segments of people and of companies share, and what sends their members. @param kind what the members are */
export function segmentFacts(
  kind: MemberKind,
): Pick<AudienceDestination, Shared> & { readonly send: NonNullable<AudienceDestination['send']> } {
  const ofKind = types[kind]
  return {
    api: linkedinApi,
    secrets: signIn,
    authorization: linkedinAuthorization('rw_dmp_segments', 'r_ads'),
    platformApi: linkedinMarketing,
    auth: { open: async (context) => (await import('./tokens.ts')).openLinkedInTokens(context) },
    account: 'adAccountId',
    findAccount: async ({ settings }) => accountUrn(settings.adAccountId),
    settings,
    listed: { adAccountId: adAccounts },
    batch: { rowsMax: 5000, bytesMax: 4_000_000 },
    lists: {
      id: /^\d+$/,
      page: ({ account }, start = '0') => ({
        path: '/dmpSegments',
        query: { q: 'account', account, start, count: '100' },
      }),
      found: (answer) =>
        segmentsIn(answer)
          .filter(({ type }) => (type ?? 'USER') === ofKind)
          .map(({ id, name }) => ({ id, name })),
      next: (answer, start = '0') => {
        const { length } = segmentsIn(answer)
        return length === 0 ? undefined : String(Number(start) + length)
      },
      make: ({ account, settings }, name) => {
        const sourcePlatform = textIn(settings.sourcePlatform)
        if (sourcePlatform === undefined) {
          throw new ConnectorError(
            'invalid_setting',
            'The rows have a segment that does not exist at LinkedIn. To create it, set the source platform that LinkedIn assigned to your app in the connection; or create the segment at LinkedIn.',
          )
        }
        const destinations = [{ destination: 'LINKEDIN' }]
        return {
          path: '/dmpSegments',
          body: { name, sourcePlatform, account, accessPolicy: 'PRIVATE', type: ofKind, destinations },
        }
      },
      made: ({ headers, json }) => headers.get('x-restli-id') ?? headers.get('x-linkedin-id') ?? objectIn(json).id,
      get: (_, id) => ({ path: `/dmpSegments/${id}` }),
      measure: {
        read({ json }) {
          const { destinations, inputCount: received } = objectIn(json)
          const ofLinkedIn = listIn(destinations).map(objectIn)
          const { audienceSize: size, status } = ofLinkedIn.find((one) => one.destination === 'LINKEDIN') ?? {}
          return { size, received, status }
        },
      },
    },
    send: async (client, context) => (await import('./send-members.ts')).memberSender(client, context, kind),
    check: {
      credentials: 'the app and the refresh token',
      account: () => roles,
      noAccount: roles,
      means: (answer, { account }) => rolesMean(answer, account),
    },
  }
}
