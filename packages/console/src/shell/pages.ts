import type { OperationId } from '@penstock/wire'
import {
  IconArrowsExchange,
  IconBell,
  IconBuildingStore,
  IconChartBar,
  IconGauge,
  IconHistory,
  IconKey,
  IconLink,
  IconPalette,
  IconPlug,
  IconShieldLock,
  IconTrash,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { useForbiddenOf, useMe, useOnlyAccountId } from '../api/me.ts'
import { shell as say } from '../strings/shell.ts'

/** The entries of the navigation. */

type Entry = {
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

const audit: Entry = { page: 'audit', label: say.audit, Icon: IconHistory, reads: 'listAudit' }

const ofAccount: readonly Entry[] = [
  overview,
  connections,
  { page: 'connectors', label: say.connectors, Icon: IconPlug, reads: 'listAddedConnectors' },
  { page: 'catalogue', label: say.catalogue, Icon: IconBuildingStore, reads: 'listConnectors' },
  { page: 'connect-links', label: say.connectLinks, Icon: IconLink, reads: 'listConnectLinks' },
  alerts,
  reports,
  deleted,
  audit,
]
const ofOrganization: readonly Entry[] = [
  overview,
  { page: 'accounts', label: say.accounts, Icon: IconUsers, reads: 'listAccounts' },
  connections,
  alerts,
  reports,
  deleted,
]
/** Entries that do not depend on a sub-account. */
const administration: readonly Entry[] = [
  { page: 'people', label: say.people, Icon: IconUsersGroup, reads: 'listUsers' },
  { page: 'sign-in-settings', label: say.signInSettings, Icon: IconShieldLock, reads: 'getSingleSignOn' },
  { page: 'branding', label: say.branding, Icon: IconPalette, reads: 'getBranding' },
  { page: 'api-keys', label: say.apiKeys, Icon: IconKey, reads: 'listClients' },
  { page: 'webhooks', label: say.webhooks, Icon: IconWebhook, reads: 'listWebhooks' },
  audit,
]
const administrationPages = new Set(administration.map(({ page }) => page))

/**
 * The entries that are shown, by whether they are of the picked sub-account or of the organization. Few may
 * see those of the administration: they are not shown before it is known.
 */
export function useEntries(accountId: string | undefined): {
  account: readonly Entry[]
  organization: readonly Entry[]
} {
  const isKnown = useMe() !== undefined
  const forbidden = useForbiddenOf()
  const onlyAccountId = useOnlyAccountId()
  const seen = (entries: readonly Entry[]) =>
    entries.filter(({ reads, page }) => !reads || (isKnown ? !forbidden(reads) : !administrationPages.has(page)))
  // With a single sub-account there is no page of the organization to switch to.
  if (accountId)
    return {
      account: seen(ofAccount),
      organization: onlyAccountId ? seen(administration.filter((entry) => entry !== audit)) : [],
    }
  return { account: [], organization: seen([...ofOrganization, ...administration]) }
}

/** The pages of all sub-accounts that a page of one sub-account can be switched to, and the other way around. */
export const sharedPages: readonly string[] = [connections, alerts, reports, deleted, audit].map(({ page }) => page)
export const accountPages: readonly string[] = ofAccount.map(({ page }) => page)

/** Whether a path shows all sub-accounts at once. */
export const isOfAllAccounts = (pathname: string): boolean => {
  const [, page = '', ...rest] = pathname.split('/')
  return rest.length === 0 && page !== 'profile' && !administrationPages.has(page)
}
