import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { type RestApi, restApi } from '../kit/api.ts'
import { textIn } from '../platform-api/json.ts'
import { originOf } from './region.ts'

/** The client ID of Login with Amazon. Connectors use one of two names for it. */
export const clientIdOf = ({ secrets }: Pick<ConnectorContext, 'secrets'>): string =>
  textIn(secrets.clientId ?? secrets.apiClientId) ?? ''

/** The API of Amazon Ads in the region of the connection. */
export const amazonAdsApi = (context: Pick<ConnectorContext, 'settings'>): RestApi =>
  restApi({
    name: 'Amazon',
    baseUrl: originOf(context),
    errors: {
      statuses: {
        401: ['invalid_credentials', 'Sign in with Amazon again and save the new refresh token in the connector.'],
        403: [
          'permission_denied',
          'Check the IDs of the advertiser and the region, that the user who signed in may edit in the Events Manager (event_manager_edit), and that Amazon has allowed your application to use its Ads API.',
        ],
      },
    },
  })

/** The conversion definitions of an advertiser account of Amazon DSP. Throws `invalid_setting` if the account is not valid. */
export function conversionsApi(context: Pick<ConnectorContext, 'settings' | 'secrets'>): RestApi {
  const { accountId, apiScope } = context.secrets
  const account = textIn(accountId) ?? ''
  if (!/^\d{1,30}$/.test(account)) {
    const message = 'The account ID must be the number of the DSP advertiser; the ID of an entity is not accepted.'
    throw new ConnectorError('invalid_setting', message)
  }
  const api = amazonAdsApi(context)
  return restApi({
    ...api,
    baseUrl: `${api.baseUrl}/accounts/${account}/dsp/conversionDefinitions`,
    headers: {
      'amazon-advertising-api-clientid': clientIdOf(context),
      'amazon-advertising-api-scope': textIn(apiScope) ?? '',
      'amazon-ads-accountid': account,
    },
  })
}
