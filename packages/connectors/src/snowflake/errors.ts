import { Outcome, retryAfterMs } from '@penstock/connector'
import { resultGone } from '../databases/kept-results.ts'
import { passingTrouble } from '../object-stores/answers.ts'
import { waitOf } from '../platform-api/status.ts'
import type { Account } from './account.ts'

/** What Snowflake says beside a status that is no success. */
export type Complaint = { readonly code: string; readonly sqlState: string; readonly message: string }

export function complaintIn(answer: Readonly<Record<string, unknown>>): Complaint {
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

type Meaning = readonly [instruction: 'refused' | 'retry' | 'failed', code: string, sentence: string]

/** By Snowflake's own code. */
const byCode: Readonly<Record<string, Meaning>> = {
  '000604': ['retry', 'statement_cancelled', 'Snowflake cancelled the statement.'],
  '000606': [
    'refused',
    'warehouse_not_usable',
    'No warehouse is at hand: check its name, and that the role may use it.',
  ],
  '000630': ['retry', 'statement_timeout', 'The statement took longer than it may; raise the statement timeout.'],
  '000904': ['refused', 'column_not_found', 'There is no such column.'],
  '001003': ['refused', 'invalid_query', 'The SQL query is not valid; it must be one SELECT statement.'],
  '002003': ['refused', 'table_not_found', 'There is no such table, view or schema, or the role may not see it.'],
  '002043': ['refused', 'table_not_found', 'There is no such object, or the role may not see it; check the settings.'],
  '003001': ['refused', 'permission_denied', 'The role lacks a permission that this needs; grant it.'],
  '390201': ['refused', 'warehouse_not_usable', 'There is no such warehouse, database or role, or it may not be used.'],
}

/** By the whole SQL state, or by its class. */
const byState: Readonly<Record<string, Meaning>> = {
  '42501': ['refused', 'permission_denied', 'The role lacks a permission that this needs; grant it.'],
  '42S02': ['refused', 'table_not_found', 'There is no such table or view; check the settings.'],
  '57014': ['retry', 'statement_cancelled', 'Snowflake cancelled the statement, maybe by a timeout of its own.'],
  '57P03': [
    'refused',
    'warehouse_not_usable',
    'No warehouse is at hand: check its name, and that the role may use it.',
  ],
  '22': ['failed', 'invalid_value', 'The query fails on a value that it reads.'],
  '40': ['retry', 'conflict', 'Snowflake rolled the statement back.'],
  '57': ['retry', 'interrupted', 'Snowflake was interrupted.'],
  XX: ['retry', 'internal_error', 'Snowflake met an error of its own.'],
}

/** Messages of these hold names of the statement, and nothing of a row. */
const tellable = new Set(['000904', '001003', '002003', '002043', '003001'])

/** A statement that Snowflake could not run. */
function outcomeOfStatement({ code, sqlState, message }: Complaint): Outcome {
  const [instruction, name, sentence] = byCode[code] ??
    byState[sqlState] ??
    byState[sqlState.slice(0, 2)] ?? ['refused', 'invalid_query', 'Snowflake cannot run this statement.']
  const told = tellable.has(code) ? `${message.replace(/\s+/g, ' ').slice(0, 300).replace(/\.$/, '')}, ` : ''
  const states = [code && `code ${code}`, sqlState && `SQL state ${sqlState}`].filter(Boolean).join(', ')
  return new Outcome(instruction, name, `${sentence.slice(0, -1)} (${told}${states || 'without a code'}).`)
}

/** Codes by which Snowflake says that a result is unknown to it, or was once. */
const goneCodes = new Set(['000709', '000710'])

/**
 * What an answer means that is neither 200 nor 202.
 * @param handle whether a statement that ran before was asked for
 */
export function outcomeOf(
  response: Pick<Response, 'status' | 'headers'>,
  complaint: Complaint,
  account: Account,
  handle: boolean,
): Outcome {
  const { status } = response
  const { code } = complaint
  const { host, user } = account
  if (handle && (status === 404 || status === 410 || goneCodes.has(code))) return resultGone('Snowflake')
  const told = code ? ` (code ${code})` : ''
  if (status === 401 || code === '390144' || code === '390318') {
    const advice =
      account.tokenType === 'KEYPAIR_JWT'
        ? 'Check account and user, and that the public half of this key is set on the user'
        : 'The password must be a programmatic access token that is still valid; Snowflake takes no other password here'
    return new Outcome('refused', 'invalid_credentials', `${host} does not let ${user} in${told}. ${advice}.`)
  }
  if (status === 403) {
    const message = `${host} denies access to ${user}${told}: check the account, the role and the network policy.`
    return new Outcome('refused', 'access_denied', message)
  }
  if (status === 404) {
    return new Outcome('refused', 'account_not_found', `${host} knows no SQL API; check the host of the account.`)
  }
  if (status === 408) {
    const message = 'The statement took longer than it may; raise the statement timeout, or use a larger warehouse.'
    return new Outcome('retry', 'statement_timeout', message, waitOf(retryAfterMs(response)))
  }
  const passing = passingTrouble('Snowflake', response as Response)
  if (passing) return passing
  if (status === 422) return outcomeOfStatement(complaint)
  return new Outcome('failed', 'unexpected_answer', `${host} answered with the unexpected status ${status}${told}.`)
}
