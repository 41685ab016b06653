import { useEffect } from 'react'
import { useLocation } from 'react-router'

/** The address of the list of connections as it was last shown: search, filters and grouping stay for who comes back to it. */

let last: { readonly path: string; readonly search: string } | undefined

/** Remembers the address of the list that is shown. */
export function useRememberedList(): void {
  const { pathname: path, search } = useLocation()
  useEffect(() => {
    last = { path, search }
  }, [path, search])
}

/** The way back to the list that has a connection of a sub-account: the one that was shown last, if it can have it. */
export function wayToList(accountId: string): string {
  const own = `/accounts/${accountId}/connections`
  return last && (last.path === own || last.path === '/connections') ? `${last.path}${last.search}` : own
}
