import { ConnectorError } from '@penstock/connector'
import type { ErrorFact, ErrorFacts } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { criteoVersion } from './version.ts'

/** The meaning of answers of Criteo's interfaces for audiences. Errors come with the status 200, too. */
export const audienceErrors: ErrorFacts = {
  codeAt: 'errors.code',
  codes: { 'quota-exceeded': 'rate_limited' },
  statuses: {
    400: 'invalid_batch',
    401: ['expired_credentials', 'Sign in at Criteo again and save the new refresh token.'],
    403: ['permission_denied', 'The app needs the right to manage audiences, and the consent of the advertiser.'],
    404: ['object_not_found', 'Check the IDs of the audiences, and that the app may see them.'],
    410: ['version_retired', `It was version ${criteoVersion}; update this service.`],
    422: 'invalid_batch',
  },
  special: meaningOfSuccess,
}

/** The meaning of an answer with the status 200 that contains errors, or warnings instead of the requested data. */
function meaningOfSuccess({ status, json }: Answer): ErrorFact | ConnectorError | undefined {
  if (status >= 300) return undefined
  const { data, errors, warnings } = objectIn(json)
  // Retail Media lists what could not be made among the warnings.
  const problems = [...listIn(errors), ...(listIn(data).length === 0 && Array.isArray(data) ? listIn(warnings) : [])]
  const codes = problems.map((one) => objectIn(one).code)
  if (codes.length === 0 || codes.includes('quota-exceeded')) return undefined
  if (codes.includes('name-must-be-unique')) {
    return new ConnectorError('conflict', 'Criteo already has an audience with this name (name-must-be-unique).')
  }
  return problems.some((one) => objectIn(one).type === 'availability') ? 'platform_error' : 'request_refused'
}
