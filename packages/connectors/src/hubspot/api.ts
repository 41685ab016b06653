import { ConnectorError } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'

/**
 * HubSpot's versions are dates within the path. One is supported for 18 months, and there are two a year. Each version is
 * named in one place: here.
 */
export const hubspotVersion = '2026-03'
export const hubspotOrigin = 'https://api.hubapi.com'

/** Paths of the API, by version. An object type is checked by `objectTypeOf`, the ID of a list by `listIdOf`. */
export const paths = {
  account: `/account-info/${hubspotVersion}/details`,
  token: `/oauth/${hubspotVersion}/token`,
  schemas: `/crm-object-schemas/${hubspotVersion}/schemas`,
  lists: `/crm/lists/${hubspotVersion}`,
  associations: (from: string, to: string, labelled: boolean) =>
    `/crm/associations/${hubspotVersion}/${from}/${to}/batch/${labelled ? 'create' : 'associate/default'}`,
  associationsRead: (from: string, to: string) => `/crm/associations/${hubspotVersion}/${from}/${to}/batch/read`,
  associationLabels: (from: string, to: string) => `/crm/associations/${hubspotVersion}/${from}/${to}/labels`,
  objects: (type: string) => `/crm/objects/${hubspotVersion}/${type}`,
  owners: `/crm/owners/${hubspotVersion}`,
  properties: (type: string) => `/crm/properties/${hubspotVersion}/${type}`,
}

/** HubSpot's day ends at midnight in the time zone of the account, which an answer does not say. */
const dailyWaitMs = 60 * 60 * 1000
const windowWaitMs: Readonly<Record<string, number>> = { SECONDLY: 1_000, TEN_SECONDLY_ROLLING: 10_000 }

/** The pause that a limit asks for, by the name of its policy (usage guidelines of HubSpot, and the retries of its SDK). */
function limited(answer: Answer): ConnectorError {
  const policy = textIn(objectIn(answer.json).policyName) ?? ''
  const asked = waitMsOf(answer)
  if (policy === 'DAILY') {
    const message =
      'All requests of the day are used up that HubSpot allows this account or app (DAILY). They begin again at midnight in the time zone of the account; start the transfer again then, or ask HubSpot for a higher limit.'
    return new ConnectorError('rate_limited', message, { afterMs: Math.max(asked ?? 0, dailyWaitMs) })
  }
  const known = Object.hasOwn(windowWaitMs, policy)
  const message = `HubSpot limits how often it may be called${known ? ` (${policy})` : ''}.`
  return new ConnectorError('rate_limited', message, { afterMs: asked ?? (known ? windowWaitMs[policy] : undefined) })
}

/** HubSpot's CRM. */
export const hubspotApi = restApi({
  name: 'HubSpot',
  baseUrl: hubspotOrigin,
  errors: {
    codeAt: 'category',
    special: (answer) => (answer.status === 429 ? limited(answer) : undefined),
    statuses: {
      400: ['invalid_setting', 'Check the object type, the properties and the list in the settings.'],
      401: [
        'expired_credentials',
        'Authorize the connector again, or save a new token or refresh token of HubSpot in it.',
      ],
      403: [
        'permission_denied',
        'The token needs the scopes of this object type: crm.objects.….read to read, crm.objects.….write as well to write, crm.lists.read and crm.lists.write for lists.',
      ],
      404: [
        'object_not_found',
        'Check the object type and the list in the settings, and that the account of the token has them.',
      ],
      410: ['version_retired', `It was version ${hubspotVersion}; update this service.`],
      423: ['conflict', 'HubSpot has locked it for some seconds.'],
      477: ['platform_unavailable', 'HubSpot is moving the account to another data center.'],
    },
  },
})
