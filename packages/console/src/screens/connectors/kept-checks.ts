import type { CheckResult } from '@penstock/wire'
import { useCallback, useSyncExternalStore } from 'react'
import { kept, sessionStore } from '../../api/session.ts'
import type { ConnectorOfAccount } from './of-account.ts'

/**
 * The last check of each configuration, kept in this browser, because the service keeps no result of a check. Saving a
 * configuration forgets its check.
 */

export type KeptCheck = Pick<CheckResult, 'ok' | 'message' | 'checkedTime'>
type KeptChecks = Readonly<Record<string, KeptCheck>>

const name = 'checks'
/** More are not kept: the oldest go. */
const keptMax = 200

const keyOf = ({ accountId, connectorId, configurationId }: ConnectorOfAccount) =>
  [accountId, connectorId, ...(configurationId === undefined ? [] : [configurationId])].join('/')

const none: KeptChecks = {}
let text: string | null = null
let checks = none
const listeners = new Set<() => void>()

/** The same object until what is stored changes. */
function read(): KeptChecks {
  const stored = kept.read(name)
  if (stored !== text) {
    text = stored
    checks = parsed(stored)
  }
  return checks
}

function parsed(stored: string | null): KeptChecks {
  try {
    const known: unknown = JSON.parse(stored ?? '{}')
    if (typeof known !== 'object' || known === null) return none
    return Object.fromEntries(Object.entries(known).filter(([, check]) => isCheck(check)))
  } catch {
    return none
  }
}

function isCheck(value: unknown): value is KeptCheck {
  const { ok, message, checkedTime } = (value ?? {}) as Partial<KeptCheck>
  return typeof ok === 'boolean' && typeof message === 'string' && typeof checkedTime === 'number'
}

function write(next: KeptChecks): void {
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

/** Stores the result of a check. */
export function keepCheck(of: ConnectorOfAccount, { ok, message, checkedTime }: KeptCheck): void {
  write({ ...read(), [keyOf(of)]: { ok, message, checkedTime } })
}

/** Forgets a check that says nothing any more about the connector as it is now. */
export function forgetCheck(of: ConnectorOfAccount): void {
  const { [keyOf(of)]: gone, ...rest } = read()
  if (gone) write(rest)
}

/** The last checks in this browser, by configuration. */
export function useKeptChecks(): (of: ConnectorOfAccount) => KeptCheck | undefined {
  const checks = useSyncExternalStore(subscribe, read)
  return useCallback((of) => checks[keyOf(of)], [checks])
}

/** The last check of a configuration in this browser. */
export function useKeptCheck(of: ConnectorOfAccount): KeptCheck | undefined {
  return useSyncExternalStore(subscribe, read)[keyOf(of)]
}
