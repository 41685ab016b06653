import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { AddedConnector, Connection, SavedFilter } from '@penstock/wire'
import {
  IconApi,
  IconArrowsExchange,
  IconBook,
  IconBookmark,
  IconBuilding,
  IconLogout,
  IconMoon,
  IconPlayerPlay,
  IconPlus,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { useForbiddenOf, useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { signOut } from '../../api/session.ts'
import { addressOf } from '../../base-path.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { pathOfFilter } from '../../screens/connections/path-of-filter.ts'
import { palette as say } from '../../strings/palette.ts'
import { savedFilters } from '../../strings/saved-filters.ts'
import { standing as words } from '../../strings/standing.ts'
import { pathOf, useAccountId } from '../account.ts'
import { useGroups } from '../pages.ts'

export type Found = {
  readonly key: string
  readonly label: string
  /** Says more about it, behind its name. */
  readonly hint?: string | undefined
  readonly Icon?: ComponentType<{ size: number; 'aria-hidden': true }>
  readonly logo?: string
} & (
  | { readonly to: string }
  /** A page outside of the console. */
  | { readonly href: string }
  | { readonly act: () => void }
)
export type FoundGroup = { readonly label: string; readonly items: readonly Found[] }

/** How many of a kind are shown. */
const shown = 5
const waitMs = 150

/**
 * Everything that has a text in its name, in groups, the closest first: connections, what can be done, sub-accounts, connectors,
 * pages. Without a text: what can be done, and pages.
 */
export function useFound(text: string): { groups: readonly FoundGroup[]; isSearching: boolean } {
  const accountId = useAccountId()
  const [q] = useDebouncedValue(text.trim(), waitMs)
  const forbidden = useForbiddenOf()
  const isAsked = q !== ''
  const connections = useRead(
    'listConnections',
    { accountId, query: { q, size: shown } },
    { enabled: isAsked && !forbidden('listConnections'), keep: true },
  )
  const accounts = useRead(
    'listAccounts',
    { query: { q, size: shown } },
    { enabled: isAsked && !forbidden('listAccounts'), keep: true },
  )
  const connectors = useRead(
    'listAddedConnectors',
    { accountId: accountId ?? '', query: { q, size: shown } },
    { enabled: isAsked && accountId !== undefined && !forbidden('listAddedConnectors'), keep: true },
  )
  const filters = useRead(
    'listSavedFilters',
    { query: { q, size: shown } },
    { enabled: isAsked && !forbidden('listSavedFilters'), keep: true },
  )
  const actions = useActions(connections.data?.reply[0])
  const pages = usePages()
  const hasText = ({ label }: Found) => label.toLowerCase().includes(text.trim().toLowerCase())
  const of = <Row,>(rows: readonly Row[] | undefined, found: (row: Row) => Found) =>
    isAsked && rows ? rows.map(found) : []
  const groups = [
    { label: say.connections, items: of(connections.data?.reply, foundConnection) },
    { label: say.accounts, items: of(accounts.data?.reply, foundAccount) },
    { label: say.connectors, items: of(connectors.data?.reply, foundConnector(accountId)) },
    { label: savedFilters.title, items: of(filters.data?.reply, foundFilter) },
    { label: say.actions, items: actions.filter(hasText) },
    { label: say.pages, items: pages.filter(hasText) },
  ]
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    isSearching: q !== text.trim() || [connections, accounts, connectors].some(({ isFetching }) => isFetching),
  }
}

const foundConnection = ({ id, accountId, name, status }: Connection): Found => ({
  key: `connection ${id}`,
  label: name,
  hint: words.connection[status],
  Icon: IconArrowsExchange,
  to: `/accounts/${accountId}/connections/${id}`,
})

const foundFilter = (filter: SavedFilter): Found => ({
  key: `filter ${filter.id}`,
  label: filter.name,
  Icon: IconBookmark,
  to: pathOfFilter(filter),
})

const foundAccount = ({ id, name }: { id: string; name: string }): Found => ({
  key: `account ${id}`,
  label: name,
  Icon: IconBuilding,
  to: pathOf(id),
})

const foundConnector =
  (accountId: string | undefined) =>
  ({ connectorId, name, connectorLogo }: AddedConnector & { connectorLogo?: string }): Found => ({
    key: `connector ${connectorId}`,
    label: name,
    ...(connectorLogo && { logo: connectorLogo }),
    to: `${pathOf(accountId, 'connectors')}?q=${encodeURIComponent(name)}`,
  })

function usePages(): Found[] {
  const me = useMe()
  const pages = useGroups(useAccountId()).flatMap(({ name, accountId, entries }) =>
    entries.map(
      ({ page, label, Icon }): Found => ({ key: `page ${name} ${page}`, label, Icon, to: pathOf(accountId, page) }),
    ),
  )
  if (me?.kind === 'user') {
    pages.push({ key: 'page profile', label: say.profile, Icon: IconUserCircle, to: '/profile' })
  }
  return [
    ...pages,
    { key: 'page guides', label: say.guides, Icon: IconBook, href: addressOf('/docs/guides') },
    { key: 'page api', label: say.api, Icon: IconApi, href: addressOf('/docs') },
  ]
}

/** Actions that are possible here, and with the connection that fits best. */
function useActions(best: Connection | undefined): Found[] {
  const accountId = useAccountId()
  const forbidden = useForbiddenOf()
  const start = useWrite('startTransfer')
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark'
  const actions: Found[] = []
  if (best?.status === 'active' && !forbidden('startTransfer')) {
    const run = async () => {
      try {
        const { already } = await start.mutateAsync({ accountId: best.accountId, id: best.id, body: {} })
        notifyDone(already ? say.already : say.started(best.name))
      } catch (error) {
        notifyFailure(error)
      }
    }
    actions.push({ key: 'run', label: say.run(best.name), Icon: IconPlayerPlay, act: () => void run() })
  }
  if (accountId && !forbidden('createConnection')) {
    actions.push({
      key: 'new connection',
      label: say.newConnection,
      Icon: IconPlus,
      to: pathOf(accountId, 'connections/new'),
    })
  }
  return [
    ...actions,
    {
      key: 'theme',
      label: isDark ? say.light : say.dark,
      Icon: isDark ? IconSun : IconMoon,
      act: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    { key: 'sign out', label: say.signOut, Icon: IconLogout, act: () => void signOut().catch(notifyFailure) },
  ]
}
