import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, lazy, Suspense, useState } from 'react'
import { BrowserRouter, Outlet, Route, Routes } from 'react-router'
import { queryClient } from './api/queries.ts'
import { basePath } from './base-path.ts'
import { ReferringInput } from './components/fields/referring-input.ts'
import { ValueOrReference } from './components/fields/value-or-reference.tsx'
import { useFocusReturn } from './components/focus-return.ts'
import { Lines } from './components/loaded.tsx'
import { NoticeRegion } from './components/notice-region.tsx'
import { openScreens, screens } from './screens.ts'
import { RequireSecondFactor } from './session/require-second-factor.tsx'
import { RequireSession } from './session/require-session.tsx'
import { Guard } from './shell/guard.tsx'
import { NotFound } from './shell/not-found.tsx'
import { Shell } from './shell/shell.tsx'
import { theme } from './theme.ts'

/** A screen as a component: drawn immediately if it is loaded, else when it is. */
function componentOf(
  screen: (typeof screens)[keyof typeof screens] | (typeof openScreens)[keyof typeof openScreens],
): ComponentType {
  const Later = lazy(async () => {
    await screen.load()
    return { default: () => screen.Component && <screen.Component /> }
  })
  return () => {
    const [Shown] = useState(() => screen.Component ?? Later)
    return <Shown />
  }
}

const openPages = Object.entries(openScreens).map(([path, screen]) => ({ path, Component: componentOf(screen) }))
const pages = Object.entries(screens).map(([path, screen]) => ({ path, Component: componentOf(screen) }))

/**
 * The console: what all of it shares, and the frame around every screen that needs a session. The service serves it
 * under the first part of each page's address (`pages.ts`).
 */
export function App() {
  useFocusReturn()
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <NoticeRegion />
        {/* Without transitions, what is drawn is of the page in the address also while its screen is still loading: else
            the frame acts for the page that was left. */}
        <BrowserRouter basename={basePath || '/'} useTransitions={false}>
          <Guard>
            <Routes>
              {openPages.map(({ path, Component }) => (
                <Route
                  key={path}
                  path={path}
                  element={
                    <Suspense fallback={null}>
                      <Component />
                    </Suspense>
                  }
                />
              ))}
              <Route element={<Frame />}>
                {pages.map(({ path, Component }) => (
                  <Route key={path} path={path} Component={Component} />
                ))}
                <Route path="*" Component={NotFound} />
              </Route>
            </Routes>
          </Guard>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** Frame around every screen that needs a session. An error in a screen leaves the frame in place. */
function Frame() {
  return (
    <RequireSession>
      <RequireSecondFactor>
        <Shell>
          <Guard>
            <ReferringInput value={ValueOrReference}>
              <Suspense fallback={<Lines lines={8} />}>
                <Outlet />
              </Suspense>
            </ReferringInput>
          </Guard>
        </Shell>
      </RequireSecondFactor>
    </RequireSession>
  )
}
