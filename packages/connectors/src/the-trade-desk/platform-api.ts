import { restApi } from '../kit/api.ts'

/** The platform API of The Trade Desk, for reports and audiences. Its tokens go nowhere else. */
export const platformApi = restApi({
  name: 'The Trade Desk',
  baseUrl: 'https://api.thetradedesk.com/v3',
  errors: {
    // Refusals have messages that quote what was sent, and no codes.
    statuses: {
      400: ['request_refused', 'Check the template ID and the advertiser IDs.'],
      401: ['expired_credentials', 'Check the credentials of the connector, and create a new token if it has one.'],
      403: ['permission_denied', 'Ask The Trade Desk whether the API user has access to the advertiser.'],
      404: ['object_not_found', 'Check the template ID and the advertiser IDs.'],
      410: 'version_retired',
    },
  },
})
