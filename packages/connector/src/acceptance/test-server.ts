import assert from 'node:assert/strict'
import type { Connector } from '../connector.ts'
import { ConnectorError, type ConnectorErrorCode, type ErrorAction } from '../connector-error.ts'
import type { Row } from '../rows.ts'
import type { Values } from '../values.ts'
import { type TestContextOptions, testContext } from './context.ts'
import { assertNoSecret } from './secrets.ts'

/** Parameters of every acceptance test, for the connector and its server. */
export type Acceptance = {
  readonly connector: Connector
  /** The server in words, for the titles: `OpenSSH 9.2`, `a server that keeps to the rules of TikTok`. */
  readonly testServer: string
  readonly secrets: Values
  /** Valid secrets that the server refuses; absent if it does not check credentials. */
  readonly wrongSecrets?: Values
  readonly settings: Values
  /** Settings that name something that does not exist. */
  readonly missing?: Values
  /** Failures of the server that a test can cause, and the error that each must become. */
  readonly errors?: readonly ServerError[]
  /** A server that does not answer, so that stopping during a request can be tested. */
  readonly hang?: TestServerHang
  /** Routes, local folders and other options of the connector's context. */
  readonly context?: Pick<TestContextOptions, 'routes' | 'networkPolicy' | 'localFolders'>
}

/** Further parameters of the acceptance tests of a destination. */
export type DestinationAcceptance = Acceptance & {
  readonly columns: readonly string[]
  /** Different rows that the destination accepts, enough for several batches. */
  readonly rows: readonly Row[]
  /** Rows that the server does not accept, and the expected reason for each; absent if it accepts everything. */
  readonly badRows?: readonly BadRow[]
  /** The rows at the destination, in any order. */
  readonly readBack: () => Promise<readonly Row[]>
  /** `rows` as the destination stores them, if it changes them. */
  readonly asKept?: (row: Row) => Row
  /** Empties the destination. */
  readonly reset: () => unknown
  /** Whether a repeated batch creates no duplicates. */
  readonly deduplicates: boolean
  /** Whether rows are visible before the transfer is finished. */
  readonly visible: 'at once' | 'when finished'
  /** Content of the destination after a transfer was aborted: confirmed rows (by default), or the previous content. */
  readonly aborted?: 'keeps what was confirmed' | 'leaves what was there'
  /** Rows in a batch. By default the rows fill four batches, or more if the destination's limit requires this. */
  readonly batchRows?: number
}

export type BadRow = {
  readonly row: Row
  /** Expected reason. */
  readonly reason: RegExp
  readonly field?: string
  /** Set if the destination reports only the number of rejected rows. */
  readonly countOnly?: boolean
}

export type ServerError = {
  /** Completes a title: `answers 429 and asks to wait 7 seconds`. */
  readonly name: string
  /** Makes the server fail in this way, for all requests or only for the next request. */
  readonly start: () => unknown
  /** Ends it. */
  readonly stop: () => unknown
  readonly action: ErrorAction
  readonly code?: ConnectorErrorCode
  /** Expected wait in the error, as the server requested it. */
  readonly afterMs?: number
}

export type TestServerHang = {
  /** From now on, the server answers nothing. */
  readonly start: () => unknown
  /** Resolves once the server has received a request that it does not answer. */
  readonly reached: () => Promise<unknown>
  readonly stop: () => unknown
}

/** No test of the suite waits longer than this for anything. */
export const boundMs = 60_000

/** A context for this connector; `options` override the options of the acceptance test. */
export const contextOf = (acceptance: Acceptance, options: TestContextOptions = {}) =>
  testContext({ secrets: acceptance.secrets, settings: acceptance.settings, ...acceptance.context, ...options })

/** Waits for work that must fail with a connector error without secrets, and returns the error. */
export async function connectorErrorOf(acceptance: Acceptance, work: Promise<unknown>): Promise<ConnectorError> {
  const [result] = await Promise.allSettled([work])
  assert.equal(result?.status, 'rejected', 'this should have failed')
  const error: unknown = result.reason
  assertNoSecret(error, acceptance)
  assert.ok(error instanceof ConnectorError, `what connectors throw is a ConnectorError, not: ${String(error)}`)
  assert.match(error.message, /^\S.*\.$/s, `the message of a connector error is a sentence: ${error.message}`)
  return error
}

/** Asserts that a failure of the server became the expected error. */
export function assertConnectorError(connectorError: ConnectorError, { action, code, afterMs }: ServerError): void {
  assert.equal(connectorError.action, action, `${connectorError.code}: ${connectorError.message}`)
  if (code !== undefined) assert.equal(connectorError.code, code)
  if (afterMs !== undefined) assert.equal(connectorError.afterMs, afterMs)
}

/** Asserts that an error breaks the connection until a person changes something. */
export function assertBreaks(action: ErrorAction, message: string): void {
  assert.ok(action === 'reauthenticate' || action === 'reconfigure', message)
}

/** Waits for work that was aborted. It can succeed, throw a connector error or throw the signal's reason, but it must end. */
export async function stopped(acceptance: Acceptance, work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  assert.ok(signal.aborted)
  const [result] = await Promise.allSettled([work])
  if (result?.status !== 'rejected') return
  assertNoSecret(result.reason, acceptance)
  const isAbort = result.reason === signal.reason || (result.reason as Error)?.name === 'AbortError'
  assert.ok(isAbort || result.reason instanceof ConnectorError, `stopping ended with: ${String(result.reason)}`)
}

/** The points at which a suite interrupts its work: all of them, or only the first in the tests that guard every change. */
export const crashPointsOf = <T>(all: readonly T[]): readonly T[] =>
  process.env.PENSTOCK_TEST_TIER === 'guard' ? all.slice(0, 1) : all
