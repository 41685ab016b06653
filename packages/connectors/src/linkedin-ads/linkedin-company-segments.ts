import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { plain } from '../kit/columns.ts'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { linkedinAds } from './platform.ts'
import { segmentFacts } from './segment-facts.ts'

const domain = { pattern: /^[^\s@/:]+\.[^\s@/:]+$/, wanted: 'The value must be a domain, such as example.com.' }

/** A company in the form that LinkedIn accepts. */
function finish(company: JsonObject, row: BatchRow): Read<JsonObject> {
  if (row.text('segment_id') === undefined && row.text('segment_name') === undefined) {
    return wrong('The row has neither the ID nor the name of a segment.', 'segment_id')
  }
  const { '@organization': organization, ...others } = company
  return { read: organization === undefined ? others : { ...others, organizationUrn: urnOf(String(organization)) } }
}

const urnOf = (id: string): string => `urn:li:organization:${id.replace(/^.*:/, '')}`

/** Companies of DMP segments of LinkedIn. */
export const linkedinCompanySegments = audienceDestination({
  ...segmentFacts('companies'),
  slug: 'linkedin-company-segments',
  name: 'LinkedIn Company Segments',
  platform: linkedinAds,
  dataType: 'audience DMP segments',
  description: 'Adds companies to DMP segments of LinkedIn, or removes them.',
  actions: ['add', 'remove'],
  notes:
    'LinkedIn offers this API to approved partners only. The app needs the Audiences product with the scope rw_dmp_segments, and its user needs a role on the ad account other than viewer. Rows identify a segment of companies by its ID, or by its name in the ad account of the connection. A segment with a new name is created if the connection has the source platform that LinkedIn assigned to your app. A new segment accepts companies after some seconds or minutes, and can be targeted after up to 48 hours. LinkedIn finds a company by its LinkedIn ID or page, by its domains or by its name; give all that you know. To remove a company, give what you gave to add it.',
  tested:
    'Our own test server, which follows the published documentation of LinkedIn’s DMP Segments API; not LinkedIn itself.',
  columns: {
    company_domain: plain('companyWebsiteDomain', 'Domain of the company’s website: example.com', {
      identifies: true,
      normalise: 'lower',
      ...domain,
      synonyms: ['website_domain', 'domain', 'company_website_domain'],
    }),
    organization_id: plain('@organization', 'ID of the company at LinkedIn, a number or a URN', {
      identifies: true,
      pattern: /^(urn:li:organization:)?\d{1,19}$/,
      wanted: 'The value must be the number of the company at LinkedIn, or its URN.',
      synonyms: ['linkedin_company_id', 'organization_urn'],
    }),
    company_name: plain('companyName', 'Name of the company', {
      identifies: true,
      normalise: 'text',
      synonyms: ['company', 'account_name'],
    }),
    email_domain: plain('companyEmailDomain', 'Domain of the company’s e-mail addresses: example.com', {
      identifies: true,
      normalise: 'lower',
      ...domain,
      synonyms: ['company_email_domain'],
    }),
    company_page_url: plain('companyPageUrl', 'Address of the company’s page at LinkedIn', {
      identifies: true,
      synonyms: ['linkedin_url', 'company_page'],
    }),
    segment_id: { ...segmentColumns.segment_id, description: 'ID of the segment at LinkedIn', oneOf: 'segment' },
    action: { ...segmentColumns.action, description: 'Whether the company is added to the segment or removed' },
    segment_name: {
      ...segmentColumns.segment_name,
      description: 'Name of the segment in the ad account, if its ID is not known',
      oneOf: 'segment',
    },
  },
  finish,
})
