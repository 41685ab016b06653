import { ConnectorError } from '@penstock/connector'
import type { Answer } from './call.ts'
import { waitMsOf } from './rate-limit.ts'

/**
 * The error for an HTTP status, if the platform's own codes are not more specific.
 * @param platform its name, for the message
 */
export function connectorErrorOfStatus(
  platform: string,
  { status, headers, json }: Pick<Answer, 'status' | 'headers'> & { readonly json?: unknown },
): ConnectorError {
  const wait = { afterMs: waitMsOf({ headers, json }) }
  if (status === 401) {
    return new ConnectorError('invalid_credentials', `${platform} does not accept the credentials; renew them.`)
  }
  if (status === 403) {
    return new ConnectorError(
      'permission_denied',
      `${platform} denies access; check the permissions of these credentials.`,
    )
  }
  if (status === 404) {
    return new ConnectorError('object_not_found', `${platform} does not know an object in the settings; check the IDs.`)
  }
  if (status === 413) return new ConnectorError('batch_too_large', `${platform} reports that the batch is too large.`)
  if (status === 408 || status === 425 || status === 429) {
    return new ConnectorError('rate_limited', `${platform} requests a pause (status ${status}).`, wait)
  }
  if (status >= 500) {
    return new ConnectorError('platform_error', `${platform} has an internal error (status ${status}).`, wait)
  }
  return new ConnectorError('unexpected_response', `${platform} answered with the unexpected status ${status}.`)
}
