import type { OperationId } from '@penstock/wire'
import {
  IconArrowsExchange,
  IconBell,
  IconBroadcast,
  IconBuildingStore,
  IconChartBar,
  IconChecklist,
  IconGauge,
  IconHistory,
  IconKey,
  IconLink,
  IconPalette,
  IconPlug,
  IconShieldLock,
  IconTrash,
  IconUserSearch,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { useForbiddenOf, useMe, useOnlyAccountId } from '../api/me.ts'
import { shell as say } from '../strings/shell.ts'

/** The pages that the navigation and the search lead to. */

export type Entry = {
  /** Last part of the address. */
  readonly page: string
  readonly label: string
  readonly Icon: ComponentType<{ size: number; 'aria-hidden': true }>
  /** The operation that its screen calls first. Users without its scope do not see the entry. */
  readonly reads?: OperationId
}

const overview: Entry = { page: '', label: say.overview, Icon: IconGauge }
const connections: Entry = {
  page: 'connections',
  label: say.connections,
  Icon: IconArrowsExchange,
  reads: 'listConnections',
}
const alerts: Entry = { page: 'alerts', label: say.alerts, Icon: IconBell, reads: 'listAlertIncidents' }
const reports: Entry = { page: 'reports', label: say.reports, Icon: IconChartBar, reads: 'reportAccounts' }
const deleted: Entry = { page: 'deleted', label: say.deleted, Icon: IconTrash, reads: 'listConnections' }

const findPerson: Entry = {
  page: 'find-person',
  label: say.findPerson,
  Icon: IconUserSearch,
  reads: 'findDataSubject',
}
const audit: Entry = { page: 'audit', label: say.audit, Icon: IconHistory, reads: 'listAudit' }

const accounts: Entry = { page: 'accounts', label: say.accounts, Icon: IconUsers, reads: 'listAccounts' }
const connectors: Entry = { page: 'connectors', label: say.connectors, Icon: IconPlug, reads: 'listAddedConnectors' }
const catalogue: Entry = {
  page: 'catalogue',
  label: say.catalogue,
  Icon: IconBuildingStore,
  reads: 'listConnectors',
}
const connectLinks: Entry = {
  page: 'connect-links',
  label: say.connectLinks,
  Icon: IconLink,
  reads: 'listConnectLinks',
}

const streams: Entry = {
  page: 'streams',
  label: say.streams,
  Icon: IconBroadcast,
  reads: 'listConnectorConfigurations',
}
const consent: Entry = { page: 'consent', label: say.consent, Icon: IconChecklist, reads: 'listPurposes' }

const administrationOfPeople: readonly Entry[] = [
  { page: 'people', label: say.people, Icon: IconUsersGroup, reads: 'listUsers' },
  { page: 'sign-in-settings', label: say.signInSettings, Icon: IconShieldLock, reads: 'getSingleSignOn' },
  { page: 'branding', label: say.branding, Icon: IconPalette, reads: 'getBranding' },
]
const administrationOfDevelopers: readonly Entry[] = [
  { page: 'api-keys', label: say.apiKeys, Icon: IconKey, reads: 'listClients' },
  { page: 'webhooks', label: say.webhooks, Icon: IconWebhook, reads: 'listWebhooks' },
]
/** Pages that do not depend on a sub-account, even if they also exist for one. */
const administrationPages = new Set(
  [...administrationOfPeople, ...administrationOfDevelopers, audit].map(({ page }) => page),
)

/** Entries under one heading, all of the sub-account or all of the organization. */
export type Group = {
  readonly name: GroupName
  /** The sub-account that its pages are of; undefined: the organization. */
  readonly accountId: string | undefined
  readonly entries: readonly Entry[]
}
export type GroupName = keyof typeof say.groups

/**
 * The entries that are shown, in groups; none is empty. Few users may see the administration: its entries are not shown before
 * it is known.
 * @param accountId the selected sub-account
 */
export function useGroups(accountId: string | undefined): readonly Group[] {
  const isKnown = useMe() !== undefined
  const forbidden = useForbiddenOf()
  const onlyAccountId = useOnlyAccountId()
  const isSeen = ({ reads, page }: Entry) => !reads || (isKnown ? !forbidden(reads) : !administrationPages.has(page))
  const group = (name: GroupName, entries: readonly Entry[], of?: string): Group => ({
    name,
    accountId: of,
    entries: entries.filter(isSeen),
  })
  const data = accountId
    ? [connections, connectors, streams, catalogue, connectLinks, consent, deleted]
    : [connections, deleted]
  const organization = onlyAccountId ? administrationOfPeople : [accounts, ...administrationOfPeople]
  return [
    group('overview', [overview], accountId),
    group('data', data, accountId),
    group('insights', [reports, alerts, findPerson, audit], accountId),
    group('organization', organization),
    group('developers', administrationOfDevelopers),
  ].filter(({ entries }) => entries.length > 0)
}

/** The pages of all sub-accounts that a page of one sub-account can be switched to, and the other way around. */
export const sharedPages: readonly string[] = [connections, alerts, reports, findPerson, deleted, audit].map(
  ({ page }) => page,
)
export const accountPages: readonly string[] = [
  ...[
    overview,
    connections,
    connectors,
    catalogue,
    connectLinks,
    streams,
    consent,
    alerts,
    reports,
    findPerson,
    deleted,
    audit,
  ].map(({ page }) => page),
  'start',
]

/** Whether a path belongs to no sub-account, as people and API keys do not. */
export const isOfNoAccount = (pathname: string): boolean => {
  const page = pathname.split('/')[1]
  return (
    page === 'profile' || [...administrationOfPeople, ...administrationOfDevelopers].some((one) => one.page === page)
  )
}

/** Whether a path shows all sub-accounts at once. */
export const isOfAllAccounts = (pathname: string): boolean => {
  const [, page = '', ...rest] = pathname.split('/')
  return rest.length === 0 && page !== 'profile' && !administrationPages.has(page)
}
