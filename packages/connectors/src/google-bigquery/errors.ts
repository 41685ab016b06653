import { ConnectorError, type ConnectorErrorCode, retryAfterMs } from '@penstock/connector'
import { resultGone } from '../kit/warehouse/result-cache.ts'
import { textOf, transientErrorOf } from '../object-stores/answers.ts'
import { isObject, listIn, objectIn, parseObject } from '../platform-api/json.ts'

/** The error that BigQuery reports for a failed request or job. */
export type BigQueryComplaint = { readonly reason: string; readonly message: string }

/** From an `error` of an answer, or an `errorResult` of a job. */
export function complaintIn(error: unknown): BigQueryComplaint {
  const { errors, reason, message } = objectIn(error)
  const first = objectIn(listIn(errors).find(isObject))
  const name = String(reason ?? first.reason ?? '')
  return { reason: /^[A-Za-z]{1,60}$/.test(name) ? name : '', message: String(message ?? first.message ?? '') }
}

type Meaning = readonly [code: ConnectorErrorCode, sentence: string]

const byReason: Readonly<Record<string, Meaning>> = {
  accessDenied: ['permission_denied', 'The service account lacks a permission; grant it a role that has it.'],
  billingNotEnabled: ['account_restricted', 'Billing is not enabled in the project; enable it.'],
  blocked: ['permission_denied', 'Google has blocked this project temporarily.'],
  bytesBilledLimitExceeded: [
    'invalid_setting',
    'The query would read more bytes than Maximum bytes billed allows; raise it, or read less.',
  ],
  invalid: ['invalid_query', 'BigQuery does not accept this query; check the settings.'],
  invalidQuery: ['invalid_query', 'The SQL query is not valid; it must be one SELECT statement.'],
  notFound: ['table_not_found', 'There is no such project, dataset or table; check the settings.'],
  resourcesExceeded: [
    'statement_failed',
    'The query needs more memory than BigQuery provides; read fewer rows or columns at once.',
  ],
  responseTooLarge: [
    'statement_failed',
    'The result is too large for BigQuery to keep; read fewer rows or columns at once.',
  ],
  stopped: ['statement_timeout', 'The query exceeded the statement timeout; raise it.'],
}

const tooMany = /^(rateLimitExceeded|userRateLimitExceeded|quotaExceeded|jobRateLimitExceeded)$/
const passing = /^(backendError|internalError|jobBackendError|jobInternalError|tableUnavailable|resourceInUse|timeout)$/

/** Messages that hold names and places of the query, and nothing of a row. */
const reportable = /^(Syntax error|Unrecognized name|Not found|Access Denied|Function not found)\b/

/** The connector error for a complaint. `undefined` if its reason is unknown. */
function connectorErrorOfReason(
  { reason, message }: BigQueryComplaint,
  wait: { afterMs?: number | undefined } = {},
): ConnectorError | undefined {
  if (tooMany.test(reason)) {
    return new ConnectorError('rate_limited', `BigQuery limits the rate of requests (${reason}).`, wait)
  }
  if (passing.test(reason)) {
    return new ConnectorError('platform_error', `BigQuery reports an internal error (${reason}).`, wait)
  }
  const meaning = byReason[reason]
  if (!meaning) return undefined
  const [code, sentence] = meaning
  const detail = reportable.test(message) ? `${message.replace(/\s+/g, ' ').slice(0, 300).replace(/\.$/, '')}, ` : ''
  return new ConnectorError(code, `${sentence.slice(0, -1)} (${detail}${reason}).`)
}

/** A job that ended without a result. Its query was found valid before, so it fails on what it reads. */
export function connectorErrorOfJob(error: unknown): ConnectorError {
  const complaint = complaintIn(error)
  if (complaint.reason === 'invalidQuery' && !reportable.test(complaint.message)) {
    return new ConnectorError('statement_failed', 'The query fails on a value that it reads (invalidQuery).')
  }
  return (
    connectorErrorOfReason(complaint) ??
    new ConnectorError('statement_failed', `BigQuery ended the query (${complaint.reason || 'without a reason'}).`)
  )
}

/**
 * The error of a response without success.
 * @param job whether the request was about a job that ran before
 */
export async function connectorErrorOf(response: Response, email: string, job: boolean): Promise<ConnectorError> {
  const { status } = response
  const transient = transientErrorOf('BigQuery', response)
  const complaint = complaintIn(parseObject(await textOf(response)).error)
  if (transient) return transient
  if (status === 401) {
    const message = `BigQuery does not accept the tokens of ${email}. Check that the service account is still there, and set its key again.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (job && (status === 404 || status === 410)) return resultGone('BigQuery')
  if (job && status === 400) return connectorErrorOfJob({ reason: complaint.reason, message: complaint.message })
  const known = connectorErrorOfReason(complaint, { afterMs: retryAfterMs(response) })
  if (known) return known
  if (status === 403) {
    const message = `${email} does not have the permission for this in BigQuery (${complaint.reason || 'status 403'}); grant it the roles BigQuery Job User and BigQuery Data Viewer.`
    return new ConnectorError('permission_denied', message)
  }
  const why = complaint.reason ? `, ${complaint.reason}` : ''
  return new ConnectorError('request_refused', `BigQuery refused a request (status ${status}${why}).`)
}
