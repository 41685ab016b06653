import type { CheckResult } from '@penstock/wire'
import { useSyncExternalStore } from 'react'
import { kept, sessionStore } from '../../api/session.ts'
import type { ConnectorOfAccount } from './of-account.ts'

/**
 * The checks of connectors that failed, kept in this browser: the service keeps no result of a check. A check that succeeds
 * and a configuration that is saved make one forgotten.
 */

export type FailedCheck = Pick<CheckResult, 'message' | 'checkedTime'>
type FailedChecks = Readonly<Record<string, FailedCheck>>

const name = 'failed-checks'
/** More are not kept: the oldest go. */
const keptMax = 200

const keyOf = ({ accountId, connectorId, configurationId }: ConnectorOfAccount) =>
  [accountId, connectorId, ...(configurationId === undefined ? [] : [configurationId])].join('/')

const none: FailedChecks = {}
let text: string | null = null
let checks = none
const listeners = new Set<() => void>()

/** The same object until what is stored changes. */
function read(): FailedChecks {
  const stored = kept.read(name)
  if (stored !== text) {
    text = stored
    checks = parsed(stored)
  }
  return checks
}

function parsed(stored: string | null): FailedChecks {
  try {
    const known: unknown = JSON.parse(stored ?? '{}')
    if (typeof known !== 'object' || known === null) return none
    return Object.fromEntries(Object.entries(known).filter(([, check]) => isCheck(check)))
  } catch {
    return none
  }
}

function isCheck(value: unknown): value is FailedCheck {
  const { message, checkedTime } = (value ?? {}) as Partial<FailedCheck>
  return typeof message === 'string' && typeof checkedTime === 'number'
}

function write(next: FailedChecks): void {
  const newest = Object.entries(next)
    .sort(([, one], [, other]) => other.checkedTime - one.checkedTime)
    .slice(0, keptMax)
  kept.write(name, JSON.stringify(Object.fromEntries(newest)))
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  const ofOtherTabs = ({ key }: StorageEvent) => key === kept.keyOf(name) && listener()
  window.addEventListener('storage', ofOtherTabs)
  listeners.add(listener)
  const leave = sessionStore.subscribe(listener)
  return () => {
    window.removeEventListener('storage', ofOtherTabs)
    listeners.delete(listener)
    leave()
  }
}

/** Stores the result of a check if it failed. */
export function keepCheck(of: ConnectorOfAccount, { ok, message, checkedTime }: CheckResult): void {
  if (ok) forgetCheck(of)
  else write({ ...read(), [keyOf(of)]: { message, checkedTime } })
}

/** Forgets a check that says nothing any more about the connector as it is now. */
export function forgetCheck(of: ConnectorOfAccount): void {
  const { [keyOf(of)]: gone, ...rest } = read()
  if (gone) write(rest)
}

/** The last check of a connector, if it failed. */
export function useFailedCheck(of: ConnectorOfAccount): FailedCheck | undefined {
  return useSyncExternalStore(subscribe, read)[keyOf(of)]
}
