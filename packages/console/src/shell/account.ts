import type { Account } from '@penstock/wire'
import { useEffect } from 'react'
import { useLocation, useParams } from 'react-router'
import { useRead } from '../api/queries.ts'
import { isOfNoAccount } from './pages.ts'

/** The sub-account that the address names; undefined on pages of the whole organization. */
export function useAccountId(): string | undefined {
  return useParams().accountId
}

const storageKey = 'penstock-sub-account'

/**
 * The sub-account that the navigation is of: the one in the address. On pages that belong to no sub-account, such as people
 * and API keys, it is the one that was open before. It is kept for each tab, until a page shows all sub-accounts.
 */
export function useNavigationAccountId(): string | undefined {
  const inAddress = useAccountId()
  const { pathname } = useLocation()
  const isKept = inAddress === undefined && isOfNoAccount(pathname)
  const kept = isKept ? (sessionStorage.getItem(storageKey) ?? undefined) : undefined
  useEffect(() => {
    if (inAddress) sessionStorage.setItem(storageKey, inAddress)
    else if (!isKept) sessionStorage.removeItem(storageKey)
  }, [inAddress, isKept])
  // A sub-account that was deleted meanwhile is not kept.
  const { error } = useRead('getAccount', { id: kept ?? '' }, { enabled: kept !== undefined })
  return inAddress ?? (error ? undefined : kept)
}

/** The sub-account that the address names, on pages that always name one. */
export function useAccount(): { accountId: string; account: Account | undefined } {
  const accountId = useAccountId() ?? ''
  const { data } = useRead('getAccount', { id: accountId }, { enabled: accountId !== '' })
  return { accountId, account: data?.reply }
}

/** The pages of a sub-account, or those of the organization. */
export const pathOf = (accountId: string | undefined, page = ''): string =>
  `${accountId ? `/accounts/${accountId}` : ''}/${page}`.replace(/(?<=.)\/$/, '')
