import type { Account } from '@penstock/wire'
import { useParams } from 'react-router'
import { useRead } from '../api/queries.ts'

/** The sub-account that the address names; undefined on pages of the whole organization. */
export function useAccountId(): string | undefined {
  return useParams().accountId
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
