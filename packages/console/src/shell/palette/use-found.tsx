import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { AddedConnector, Connection, ConnectionStatus, SavedFilter, StatusAction, Transfer } from '@penstock/wire'
import {
  IconAlertTriangle,
  IconApi,
  IconArrowsExchange,
  IconBook,
  IconBookmark,
  IconBuilding,
  IconFileUpload,
  IconFilter,
  IconLogout,
  IconMoon,
  IconPlayerPlay,
  IconPlus,
  IconPower,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import type { ComponentType, ReactNode } from 'react'
import { useForbiddenOf, useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { signOut } from '../../api/session.ts'
import { addressOf } from '../../base-path.ts'
import { AccountText } from '../../components/account-name.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { standingOf } from '../../components/standing.ts'
import { pathOfFilter } from '../../screens/connections/path-of-filter.ts'
import { causeGroupsOf } from '../../screens/failing/cause.ts'
import { titleOf } from '../../screens/failing/titles.ts'
import { failingQuery } from '../../screens/failing/use-failing.ts'
import { failing } from '../../strings/failing.ts'
import { palette as say } from '../../strings/palette.ts'
import { savedFilters } from '../../strings/saved-filters.ts'
import { standing as words } from '../../strings/standing.ts'
import { pathOf, useAccountId } from '../account.ts'
import { useGroups } from '../pages.ts'

export type Found = {
  readonly key: string
  readonly label: string
  /** Says more about it, behind its name. */
  readonly hint?: ReactNode
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
/** How many failing connections of a sub-account are read, and how many of their causes are shown. */
const causesRead = 100
const causesShown = 2
const waitMs = 150
/** Keys of the actions of the connection that fits best. */
const ofBest = ['run', 'activate', 'error']

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
  // Connections that were found by their own name come first.
  const isNamed = ({ name }: Connection) => name.toLowerCase().includes(q.toLowerCase())
  const listed = isAsked ? (connections.data?.reply ?? []) : []
  const ordered = [...listed.filter(isNamed), ...listed.filter((one) => !isNamed(one))]
  const newest = useNewest(ordered)
  const best = ordered[0]
  const bestAccount = isAsked ? accounts.data?.reply[0] : undefined
  const ofAccount = useAccountActions(bestAccount)
  const actions = useActions(best, best && newest.get(best.id))
  const pages = usePages()
  const hasText = ({ label }: Found) => label.toLowerCase().includes(text.trim().toLowerCase())
  const of = <Row,>(rows: readonly Row[] | undefined, found: (row: Row) => Found) =>
    isAsked && rows ? rows.map(found) : []
  const found = (rows: readonly Connection[]) => rows.map((one) => foundConnection(one, newest.get(one.id)))
  const accountGroups = [
    { label: say.accounts, items: of(accounts.data?.reply, foundAccount) },
    { label: say.actionsIn(bestAccount?.name ?? ''), items: ofAccount },
  ]
  const isByName = best !== undefined && isNamed(best)
  const groups = [
    { label: say.connections, items: found(listed.filter(isNamed)) },
    ...accountGroups,
    { label: say.related, items: found(listed.filter((one) => !isNamed(one))) },
    { label: say.connectors, items: of(connectors.data?.reply, foundConnector(accountId)) },
    { label: savedFilters.title, items: of(filters.data?.reply, foundFilter) },
    { label: say.actions, items: actions.filter((one) => hasText(one) || (isByName && ofBest.includes(one.key))) },
    { label: say.pages, items: pages.filter(hasText) },
  ]
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    isSearching: q !== text.trim() || [connections, accounts, connectors].some(({ isFetching }) => isFetching),
  }
}

/** The newest transfers of connections, by connection: how these are doing depends on them. */
function useNewest(connections: readonly Connection[]): ReadonlyMap<string, Transfer> {
  const accountId = useAccountId()
  const connectionIds = connections.map(({ id }) => id).join(',')
  const query = { latest: true, connectionIds, size: shown }
  const { data } = useRead('listAllTransfers', { accountId, query }, { enabled: connectionIds !== '', keep: true })
  return new Map(data?.reply.map((transfer) => [transfer.connectionId, transfer]))
}

/** Actions in the sub-account that fits best: first the cures of its failing connections. */
function useAccountActions(account: { id: string; name: string } | undefined): Found[] {
  const forbidden = useForbiddenOf()
  const id = account?.id ?? ''
  const { data } = useRead('listAttention', failingQuery(id, causesRead), {
    enabled: account !== undefined && !forbidden('listAttention'),
  })
  if (!account) return []
  const list = `${pathOf(id, 'connections')}?last=failing`
  const cures = causeGroupsOf(data?.reply ?? []).slice(0, causesShown)
  return [
    ...cures.map(
      (group): Found => ({
        key: `cause ${group.cause.key}`,
        label: titleOf(group),
        hint: failing.connections(group.connections.length),
        Icon: IconAlertTriangle,
        to: list,
      }),
    ),
    ...(data && data.total > 0
      ? [{ key: `failing ${id}`, label: say.showFailing, hint: count(data.total), Icon: IconFilter, to: list }]
      : []),
    ...(forbidden('createConnection')
      ? []
      : [{ key: `new in ${id}`, label: say.newConnection, Icon: IconPlus, to: pathOf(id, 'connections/new') }]),
  ]
}

const foundConnection = ({ id, accountId, name, status }: Connection, newest: Transfer | undefined): Found => ({
  key: `connection ${id}`,
  label: name,
  hint: (
    <>
      <AccountText accountId={accountId} /> · {words.connection[standingOf(status, newest)]}
    </>
  ),
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

/** The action that lets the transfers of a connection start. */
const openings: Partial<Record<ConnectionStatus, StatusAction>> = {
  'In-progress': 'activate',
  broken: 'activate',
  offline: 'activate',
  disabled: 'enable',
}

/** Actions that are possible here, and with the connection that fits best. */
function useActions(best: Connection | undefined, newest: Transfer | undefined): Found[] {
  const accountId = useAccountId()
  const forbidden = useForbiddenOf()
  const start = useWrite('startTransfer')
  const move = useWrite('updateConnectionStatus')
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark'
  const actions: Found[] = []
  const opening = best && openings[best.status]
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
  if (best && opening && !forbidden('updateConnectionStatus')) {
    const activate = async () => {
      try {
        await move.mutateAsync({ accountId: best.accountId, id: best.id, body: { action: opening } })
        notifyDone(say.activated(best.name))
      } catch (error) {
        notifyFailure(error)
      }
    }
    const label = opening === 'enable' ? say.enable(best.name) : say.activate(best.name)
    actions.push({ key: 'activate', label, Icon: IconPower, act: () => void activate() })
  }
  if (best && newest?.error) {
    const to = `/accounts/${best.accountId}/connections/${best.id}/transfers/${newest.id}`
    actions.push({ key: 'error', label: say.viewError(best.name), Icon: IconAlertTriangle, to })
  }
  if (accountId && !forbidden('createConnection')) {
    actions.push({
      key: 'new connection',
      label: say.newConnection,
      Icon: IconPlus,
      to: pathOf(accountId, 'connections/new'),
    })
    actions.push({ key: 'upload', label: say.uploadFile, Icon: IconFileUpload, to: pathOf(accountId, 'start') })
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
