import type { StreamPreset } from '../event-stream/preset-facts.ts'
import { linkedinAds } from './platform.ts'

/** Notifications of LinkedIn about leads of lead forms. */
export const linkedinLeadPreset: StreamPreset = {
  slug: 'linkedin-lead-forms',
  name: 'LinkedIn Lead Forms',
  platform: linkedinAds,
  dataType: 'events',
  description:
    'Receives a notification for each lead of a lead form of LinkedIn, with the IDs of the lead and its form.',
  notes:
    'Each configuration is an event stream. Create a write key on its page. Your app at LinkedIn needs the product Lead Sync API. Subscribe with `POST /rest/leadNotifications`, the owner and the address `https://…/events/{stream}?writeKey=…`, and enter the client secret of the app here. LinkedIn checks the address when you subscribe and every two hours; the check is answered. Notifications contain IDs only: the answers of a person are read from LinkedIn with `GET /rest/leadFormResponses`, which needs the permission r_marketing_leadgen_automation. A lead that a person deletes is another notification, with the action DELETED. A notification that LinkedIn repeats is stored once, within 76 hours.',
  tested: 'Notifications as LinkedIn’s documentation describes them, signed by our own code; not LinkedIn itself.',
  api: { version: 'lead notifications of the Lead Sync API', ends: 'no end is announced' },
  sender: 'linkedin',
  unwrap: [],
  columns: {
    leadGenFormResponse: { description: 'ID of the lead, as URN', type: 'text' },
    leadAction: { description: 'CREATED or DELETED', type: 'text' },
    occurredAt: { description: 'Time of the action, in milliseconds since 1970', type: 'integer' },
    leadGenForm: { description: 'ID of the version of the form, as URN', type: 'text' },
    leadType: { description: 'SPONSORED, EVENT, COMPANY or ORGANIZATION_PRODUCT', type: 'text' },
    'owner.sponsoredAccount': { description: 'Ad account of a sponsored lead, as URN', type: 'text' },
    'owner.organization': { description: 'Organization of other leads, as URN', type: 'text' },
    associatedEntity: { description: 'The event, page or product of the lead', type: 'json' },
    type: { description: 'Kind of notification: LEAD_ACTION', type: 'text' },
  },
}
