import type { ComponentType } from 'react'

/**
 * The screens, each loaded when it is first opened: a file that exports it as `Component`. The one that the address asks
 * for is on its way before React itself is there.
 */

type Screen = { readonly load: () => Promise<void>; Component: ComponentType | undefined }

const screen = (load: () => Promise<{ Component: ComponentType }>): Screen => {
  const made: Screen = {
    Component: undefined,
    load: async () => {
      made.Component = (await load()).Component
    },
  }
  return made
}

const connections = screen(() => import('./screens/connections/connections.tsx'))
const reports = screen(() => import('./screens/reports/reports.tsx'))
const deleted = screen(() => import('./screens/deleted/deleted.tsx'))

/** By the paths of their pages; the sub-account that is picked stands in the address. */
export const screens = {
  '/sign-in': screen(() => import('./screens/sign-in.tsx')),
  '/': screen(() => import('./screens/overview/organization.tsx')),
  '/accounts': screen(() => import('./screens/accounts/accounts.tsx')),
  '/connections': connections,
  '/reports': reports,
  '/deleted': deleted,
  '/accounts/:accountId': screen(() => import('./screens/overview/account.tsx')),
  '/accounts/:accountId/catalogue': screen(() => import('./screens/catalogue/catalogue.tsx')),
  '/accounts/:accountId/connectors': screen(() => import('./screens/connectors/connectors.tsx')),
  '/accounts/:accountId/connections': connections,
  '/accounts/:accountId/connections/new': screen(() => import('./screens/new-connection/new-connection.tsx')),
  '/accounts/:accountId/connections/:connectionId': screen(() => import('./screens/connection/connection.tsx')),
  '/accounts/:accountId/connections/:connectionId/runs/:transferId': screen(() => import('./screens/run/run.tsx')),
  '/accounts/:accountId/reports': reports,
  '/accounts/:accountId/deleted': deleted,
} satisfies Record<string, Screen>

/** Begins to load the screen of a page. Resolves when it is there, or cannot be had: opening it then says why. */
export async function loadScreenOf(pathname: string): Promise<void> {
  const parts = pathname.split('/').filter(Boolean)
  const fits = (path: string) => {
    const wanted = path.split('/').filter(Boolean)
    return wanted.length === parts.length && wanted.every((part, i) => part === parts[i] || part.startsWith(':'))
  }
  const found = Object.entries(screens).find(([path]) => fits(path))?.[1]
  await found?.load().catch(() => {})
}
