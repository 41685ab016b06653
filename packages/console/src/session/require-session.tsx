import { type ReactNode, useSyncExternalStore } from 'react'
import { Navigate, useLocation } from 'react-router'
import { sessionStore } from '../api/session.ts'

/** Redirects users who are not signed in to sign-in, and from there back to the page that they asked for. */
export function RequireSession({ children }: { children: ReactNode }) {
  const clientId = useSyncExternalStore(sessionStore.subscribe, sessionStore.read)
  const { pathname, search } = useLocation()
  if (clientId) return children
  const to = pathname + search
  return <Navigate to={to === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to })}`} replace />
}
