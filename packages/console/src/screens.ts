import type { ComponentType } from 'react'
import { matchPath } from 'react-router'
import { readOnce } from './api/queries.ts'
import { sessionStore } from './api/session.ts'
import { basePath } from './base-path.ts'
import { type ListAddress, listAddressOf } from './components/address.ts'

/**
 * The screens, each loaded when it is first opened: a file that exports it as `Component`. A list exports
 * `readAhead` too, which reads what it will ask for first.
 */

type Module = {
  Component: ComponentType
  readAhead?: (accountId: string | undefined, place: ListAddress) => Promise<unknown>
}
type Screen = { readonly load: () => Promise<Module>; Component: ComponentType | undefined }

const screen = (load: () => Promise<Module>): Screen => {
  const made: Screen = {
    Component: undefined,
    load: async () => {
      const module = await load()
      made.Component = module.Component
      return module
    },
  }
  return made
}

const connections = screen(() => import('./screens/connections/connections.tsx'))
const reports = screen(() => import('./screens/reports/reports.tsx'))
const audit = screen(() => import('./screens/audit/audit.tsx'))
const alerts = screen(() => import('./screens/alerts/alerts.tsx'))
const dataSubjects = screen(() => import('./screens/data-subjects/data-subjects.tsx'))
const start = screen(() => import('./screens/start/start.tsx'))
const deleted = screen(() => import('./screens/deleted/deleted.tsx'))

/** Screens without a session. */
export const openScreens = {
  '/sign-in': screen(() => import('./screens/sign-in/sign-in.tsx')),
  '/accept-invitation': screen(() => import('./screens/sign-in/accept-invitation.tsx')),
  '/forgot-password': screen(() => import('./screens/sign-in/forgot-password.tsx')),
  '/reset-password': screen(() => import('./screens/sign-in/reset-password.tsx')),
} satisfies Record<string, Screen>

/** By the paths of their pages; the address has the selected sub-account. */
export const screens = {
  '/': screen(() => import('./screens/overview/organization.tsx')),
  '/start': start,
  '/accounts': screen(() => import('./screens/accounts/accounts.tsx')),
  '/connections': connections,
  '/reports': reports,
  '/deleted': deleted,
  '/alerts': alerts,
  '/audit': audit,
  '/find-person': dataSubjects,
  '/api-keys': screen(() => import('./screens/api-keys/api-keys.tsx')),
  '/webhooks': screen(() => import('./screens/webhooks/webhooks.tsx')),
  '/webhooks/:webhookId': screen(() => import('./screens/webhook/webhook.tsx')),
  '/people': screen(() => import('./screens/people/people.tsx')),
  '/sign-in-settings': screen(() => import('./screens/sign-in-settings/sign-in-settings.tsx')),
  '/branding': screen(() => import('./screens/branding/branding.tsx')),
  '/profile': screen(() => import('./screens/profile/profile.tsx')),
  '/accounts/:accountId': screen(() => import('./screens/overview/account.tsx')),
  '/accounts/:accountId/start': start,
  '/accounts/:accountId/catalogue': screen(() => import('./screens/catalogue/catalogue.tsx')),
  '/accounts/:accountId/catalogue/:connectorId': screen(() => import('./screens/connector-page/connector-page.tsx')),
  '/accounts/:accountId/connectors': screen(() => import('./screens/connectors/connectors.tsx')),
  '/accounts/:accountId/connectors/:connectorId/build': screen(() => import('./screens/build-source/build-source.tsx')),
  '/accounts/:accountId/streams': screen(() => import('./screens/streams/streams.tsx')),
  '/accounts/:accountId/streams/:streamId': screen(() => import('./screens/stream/stream.tsx')),
  '/accounts/:accountId/consent': screen(() => import('./screens/consent/consent.tsx')),
  '/accounts/:accountId/connect-links': screen(() => import('./screens/connect-links/connect-links.tsx')),
  '/accounts/:accountId/connections': connections,
  '/accounts/:accountId/connections/new': screen(() => import('./screens/new-connection/new-connection.tsx')),
  '/accounts/:accountId/connections/:connectionId': screen(() => import('./screens/connection/connection.tsx')),
  '/accounts/:accountId/connections/:connectionId/transfers/:transferId': screen(
    () => import('./screens/transfer/transfer.tsx'),
  ),
  '/accounts/:accountId/reports': reports,
  '/accounts/:accountId/deleted': deleted,
  '/accounts/:accountId/alerts': alerts,
  '/accounts/:accountId/audit': audit,
  '/accounts/:accountId/find-person': dataSubjects,
} satisfies Record<string, Screen>

/** The screen of an address, with the sub-account and all else that the address names. */
function find({ origin, pathname, searchParams }: URL) {
  if (origin !== window.location.origin || !pathname.startsWith(basePath)) return undefined
  for (const [path, screen] of Object.entries({ ...openScreens, ...screens })) {
    const match = matchPath(path, pathname.slice(basePath.length))
    if (match) return { screen, accountId: match.params.accountId, place: listAddressOf(searchParams) }
  }
  return undefined
}

/**
 * Loads the screen of an address, and reads ahead what it shows, for no longer than `waitMs` beyond that. A failure is
 * ignored here: the screen reports it when it opens.
 */
export async function prepareScreen(address: URL, waitMs: number): Promise<void> {
  const found = find(address)
  const isSignedIn = sessionStore.read() !== undefined
  const me = isSignedIn && readOnce('getMe', {}).catch(() => {})
  try {
    const { readAhead } = (await found?.screen.load()) ?? {}
    const read = found && isSignedIn && Promise.all([me, readAhead?.(found.accountId, found.place)])
    if (read) await Promise.race([read, new Promise((resolve) => setTimeout(resolve, waitMs))])
  } catch {}
}

/** Loads the screen of a link as soon as the user points at the link, so that it is there when they click. */
export function loadWhatIsPointedAt(): void {
  const load = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null
    const found = link?.href ? find(new URL(link.href)) : undefined
    found?.screen.load().catch(() => {})
  }
  for (const event of ['pointerover', 'focusin']) document.addEventListener(event, load, { passive: true })
}
