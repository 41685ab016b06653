import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { createBrowserRouter, Outlet, type RouteObject, RouterProvider } from 'react-router'
import { queryClient } from './api/queries.ts'
import { prefix } from './place.ts'
import { RequireSession } from './session/require-session.tsx'
import { Crashed, NotFound } from './shell/misfits.tsx'
import { Shell } from './shell/shell.tsx'
import { theme } from './theme.ts'

/** A screen is loaded when it is first opened; each file of `screens` that is named here exports one as `Component`. */
const screen = (path: string, lazy: RouteObject['lazy']): RouteObject => ({ path, lazy: lazy as never })

/**
 * Every page of the console. The sub-account that is picked stands in the address; the service serves the console under
 * the first part of each (`pages.ts`).
 */
const routes: RouteObject[] = [
  {
    path: '/sign-in',
    lazy: () => import('./screens/sign-in.tsx'),
    ErrorBoundary: Crashed,
    HydrateFallback: () => null,
  },
  {
    ErrorBoundary: Crashed,
    HydrateFallback: () => null,
    element: (
      <RequireSession>
        <Shell>
          <Outlet />
        </Shell>
      </RequireSession>
    ),
    children: [
      {
        ErrorBoundary: Crashed,
        children: [
          screen('/', () => import('./screens/overview/organization.tsx')),
          screen('/accounts', () => import('./screens/accounts/accounts.tsx')),
          screen('/connections', () => import('./screens/connections/connections.tsx')),
          screen('/reports', () => import('./screens/reports/reports.tsx')),
          screen('/deleted', () => import('./screens/deleted/deleted.tsx')),
          {
            path: '/accounts/:accountId',
            children: [
              screen('', () => import('./screens/overview/account.tsx')),
              screen('catalogue', () => import('./screens/catalogue/catalogue.tsx')),
              screen('connectors', () => import('./screens/connectors/connectors.tsx')),
              screen('connections', () => import('./screens/connections/connections.tsx')),
              screen('connections/new', () => import('./screens/new-connection/new-connection.tsx')),
              screen('connections/:connectionId', () => import('./screens/connection/connection.tsx')),
              screen('connections/:connectionId/runs/:transferId', () => import('./screens/run/run.tsx')),
              screen('reports', () => import('./screens/reports/reports.tsx')),
              screen('deleted', () => import('./screens/deleted/deleted.tsx')),
            ],
          },
          { path: '*', Component: NotFound },
        ],
      },
    ],
  },
]

const router = createBrowserRouter(routes, { basename: prefix || '/' })

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
