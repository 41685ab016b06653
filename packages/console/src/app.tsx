import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, lazy, Suspense } from 'react'
import { BrowserRouter, Outlet, Route, Routes } from 'react-router'
import { queryClient } from './api/queries.ts'
import { Lines } from './parts/loaded.tsx'
import { prefix } from './place.ts'
import { RequireSession } from './session/require-session.tsx'
import { Guard } from './shell/guard.tsx'
import { NotFound } from './shell/not-found.tsx'
import { Shell } from './shell/shell.tsx'
import { theme } from './theme.ts'

/** A screen: a file that exports it as `Component`, and is loaded when it is first opened. */
const screen = (load: () => Promise<{ Component: ComponentType }>) =>
  lazy(async () => ({ default: (await load()).Component }))

const SignIn = screen(() => import('./screens/sign-in.tsx'))
const Overview = screen(() => import('./screens/overview/organization.tsx'))
const AccountOverview = screen(() => import('./screens/overview/account.tsx'))
const Accounts = screen(() => import('./screens/accounts/accounts.tsx'))
const Catalogue = screen(() => import('./screens/catalogue/catalogue.tsx'))
const Connectors = screen(() => import('./screens/connectors/connectors.tsx'))
const Connections = screen(() => import('./screens/connections/connections.tsx'))
const NewConnection = screen(() => import('./screens/new-connection/new-connection.tsx'))
const Connection = screen(() => import('./screens/connection/connection.tsx'))
const Run = screen(() => import('./screens/run/run.tsx'))
const Deleted = screen(() => import('./screens/deleted/deleted.tsx'))
const Reports = screen(() => import('./screens/reports/reports.tsx'))

/**
 * Every page of the console. The sub-account that is picked stands in the address; the service serves the console under
 * the first part of each (`pages.ts`).
 */
export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <BrowserRouter basename={prefix || '/'}>
          <Guard>
            <Routes>
              <Route
                path="/sign-in"
                element={
                  <Suspense fallback={null}>
                    <SignIn />
                  </Suspense>
                }
              />
              <Route element={<Frame />}>
                <Route path="/" Component={Overview} />
                <Route path="/accounts" Component={Accounts} />
                <Route path="/connections" Component={Connections} />
                <Route path="/reports" Component={Reports} />
                <Route path="/deleted" Component={Deleted} />
                <Route path="/accounts/:accountId">
                  <Route index Component={AccountOverview} />
                  <Route path="catalogue" Component={Catalogue} />
                  <Route path="connectors" Component={Connectors} />
                  <Route path="connections" Component={Connections} />
                  <Route path="connections/new" Component={NewConnection} />
                  <Route path="connections/:connectionId" Component={Connection} />
                  <Route path="connections/:connectionId/runs/:transferId" Component={Run} />
                  <Route path="reports" Component={Reports} />
                  <Route path="deleted" Component={Deleted} />
                </Route>
                <Route path="*" Component={NotFound} />
              </Route>
            </Routes>
          </Guard>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** What is around every screen but the one that signs in. A screen that breaks leaves the frame in place. */
function Frame() {
  return (
    <RequireSession>
      <Shell>
        <Guard>
          <Suspense fallback={<Lines lines={8} />}>
            <Outlet />
          </Suspense>
        </Guard>
      </Shell>
    </RequireSession>
  )
}
