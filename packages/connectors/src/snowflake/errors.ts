import { ConnectorError, type ConnectorErrorCode, retryAfterMs } from '@penstock/connector'
import { resultGone } from '../kit/warehouse/result-cache.ts'
import { transientErrorOf } from '../object-stores/answers.ts'
import type { SnowflakeAccount } from './account.ts'

/** The error that Snowflake reports with a status other than success. */
export type SnowflakeComplaint = { readonly code: string; readonly sqlState: string; readonly message: string }

export function complaintIn(answer: Readonly<Record<string, unknown>>): SnowflakeComplaint {
  const text = (key: string, pattern: RegExp): string => {
    const value = answer[key]
    return typeof value === 'string' && pattern.test(value) ? value : ''
  }
  return {
    code: text('code', /^\d{3,8}$/),
    sqlState: text('sqlState', /^[0-9A-Z]{5}$/),
    message: text('message', /^/),
  }
}

type Meaning = readonly [code: ConnectorErrorCode, sentence: string]

/** By Snowflake's own code. */
const byCode: Readonly<Record<string, Meaning>> = {
  '000604': ['statement_timeout', 'Snowflake cancelled the statement.'],
  '000606': ['object_not_found', 'No warehouse is available: check its name, and that the role may use it.'],
  '000630': ['statement_timeout', 'The statement exceeded the statement timeout; raise it.'],
  '000904': ['column_not_found', 'There is no such column.'],
  '001003': ['invalid_query', 'The SQL query is not valid; it must be one SELECT statement.'],
  '002003': ['table_not_found', 'There is no such table, view or schema, or the role may not see it.'],
  '002043': ['table_not_found', 'There is no such object, or the role may not see it; check the settings.'],
  '003001': ['permission_denied', 'The role lacks a required permission; grant it.'],
  '390201': ['object_not_found', 'There is no such warehouse, database or role, or it may not be used.'],
}

/** By the whole SQL state, or by its class. */
const byState: Readonly<Record<string, Meaning>> = {
  '42501': ['permission_denied', 'The role lacks a required permission; grant it.'],
  '42S02': ['table_not_found', 'There is no such table or view; check the settings.'],
  '57014': ['statement_timeout', 'Snowflake cancelled the statement, possibly by its own timeout.'],
  '57P03': ['object_not_found', 'No warehouse is available: check its name, and that the role may use it.'],
  '22': ['statement_failed', 'The statement fails on a value.'],
  '40': ['conflict', 'Snowflake rolled the statement back.'],
  '57': ['platform_unavailable', 'Snowflake was interrupted.'],
  XX: ['platform_error', 'Snowflake reported an internal error.'],
}

/** Messages of these hold names of the statement, and nothing of a row. */
const reportable = new Set(['000904', '001003', '002003', '002043', '003001'])

/** A statement that Snowflake could not run. */
function connectorErrorOfStatement({ code, sqlState, message }: SnowflakeComplaint): ConnectorError {
  const [name, sentence] = byCode[code] ??
    byState[sqlState] ??
    byState[sqlState.slice(0, 2)] ?? ['invalid_query', 'Snowflake cannot run this statement.']
  const detail =
    message && reportable.has(code) ? `${message.replace(/\s+/g, ' ').slice(0, 300).replace(/\.$/, '')}, ` : ''
  const states = [code && `code ${code}`, sqlState && `SQL state ${sqlState}`].filter(Boolean).join(', ')
  return new ConnectorError(name, `${sentence.slice(0, -1)} (${detail}${states || 'without a code'}).`)
}

/** Codes by which Snowflake says that a result is unknown to it, or was once. */
const goneCodes = new Set(['000709', '000710'])

/**
 * The error of a response whose status is neither 200 nor 202.
 * @param handle whether the request was for a statement that ran before
 */
export function connectorErrorOf(
  response: Pick<Response, 'status' | 'headers'>,
  complaint: SnowflakeComplaint,
  account: SnowflakeAccount,
  handle: boolean,
): ConnectorError {
  const { status } = response
  const { code } = complaint
  const { host, user } = account
  if (handle && (status === 404 || status === 410 || goneCodes.has(code))) return resultGone('Snowflake')
  const detail = code ? ` (code ${code})` : ''
  if (status === 401 || code === '390144' || code === '390318') {
    const advice =
      account.tokenType === 'KEYPAIR_JWT'
        ? 'Check account and user, and that the public half of this key is set on the user'
        : account.tokenType === 'OAUTH'
          ? 'Check that the OAuth integration is enabled and that the user may have this role'
          : 'The password must be a programmatic access token that is still valid; Snowflake takes no other password here'
    return new ConnectorError('invalid_credentials', `${host} denies access to ${user}${detail}. ${advice}.`)
  }
  if (status === 403) {
    const message = `${host} denies access to ${user}${detail}: check the account, the role and the network policy.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 404) {
    return new ConnectorError('invalid_address', `${host} does not have a SQL API; check the host of the account.`)
  }
  if (status === 408) {
    const message = 'The statement exceeded the statement timeout; raise it, or use a larger warehouse.'
    return new ConnectorError('statement_timeout', message, { afterMs: retryAfterMs(response) })
  }
  const passing = transientErrorOf('Snowflake', response as Response)
  if (passing) return passing
  if (status === 422) return connectorErrorOfStatement(complaint)
  return new ConnectorError('unexpected_response', `${host} answered with the unexpected status ${status}${detail}.`)
}
