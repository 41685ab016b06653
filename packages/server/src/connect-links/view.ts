import type { Branding, ConnectLink, ConnectLinkStatus } from '@penstock/wire'
import { maybeSeconds, unixSeconds } from '../time.ts'
import { isCovered } from './creator.ts'
import type { BrandingRow, LinkRow } from './queries.ts'

function statusOf(row: LinkRow): ConnectLinkStatus {
  const { outcome, revokedTime, expired, openedTime } = row
  if (outcome) return outcome
  if (revokedTime) return 'revoked'
  if (expired) return 'expired'
  if (!isCovered(row)) return 'revoked'
  return openedTime ? 'opened' : 'pending'
}

export const viewLink = (row: LinkRow): ConnectLink => ({
  id: row.id,
  accountId: row.accountId,
  connectorIds: row.connectorIds,
  configurationIds: row.configurationIds.filter((id) => id !== ''),
  connectionTemplate: row.template,
  redirectUrl: row.redirectUrl,
  status: statusOf(row),
  connectionId: row.connectionId,
  createdTime: unixSeconds(row.createdTime),
  expiresTime: unixSeconds(row.expiresTime),
  openedTime: maybeSeconds(row.openedTime),
  finishedTime: maybeSeconds(row.finishedTime),
})

export const viewBranding = (row: BrandingRow | undefined): Branding => ({
  name: row?.name ?? null,
  logo: row?.logo ?? null,
  colours: row?.primaryColour && row.textColour ? { primary: row.primaryColour, text: row.textColour } : null,
  allowedOrigins: row?.allowedOrigins ?? [],
})
