import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { plain, special } from '../kit/columns.ts'
import { type JsonObject, listIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { linkedinAds } from './platform.ts'
import { segmentFacts } from './segment-facts.ts'
import { userIdsOf } from './user-ids.ts'

/** A person in the form that LinkedIn accepts: with an identifier or both names. */
function finish(about: JsonObject, row: BatchRow): Read<JsonObject> {
  if (row.text('segment_id') === undefined && row.text('segment_name') === undefined) {
    return wrong('The row has neither the ID nor the name of a segment.', 'segment_id')
  }
  const userIds = userIdsOf(row)
  if ('wrong' in userIds) return userIds
  if (userIds.read.length === 0 && (about.firstName === undefined || about.lastName === undefined)) {
    const reason = 'The row has nothing that LinkedIn can use to find the person: neither an identifier nor both names.'
    return wrong(reason, 'email')
  }
  return { read: { userIds: userIds.read, ...about } }
}

/** Members of DMP segments of LinkedIn. */
export const linkedinDmpSegments = audienceDestination({
  ...segmentFacts('users'),
  slug: 'linkedin-dmp-segments',
  name: 'LinkedIn DMP Segments',
  platform: linkedinAds,
  dataType: 'audience DMP segments',
  description: 'Adds people to DMP segments of LinkedIn, or removes them.',
  actions: ['add', 'remove'],
  notes:
    'LinkedIn offers this API to approved partners only. The app needs the Audiences product with the scope rw_dmp_segments, and its user needs a role on the ad account other than viewer. Rows identify a segment by its ID, or by its name in the ad account of the connection. A segment with a new name is created if the connection has the source platform that LinkedIn assigned to your app. A new segment accepts members after some seconds or minutes, and can be targeted after up to 48 hours, when 300 people have been matched. LinkedIn finds people by their identifiers or by both names, and better if their company, title and country are known. Send only people who have agreed to it: LinkedIn does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of LinkedIn’s DMP Segments API; not LinkedIn itself.',
  columns: {
    userIds: {
      ...special('The people: a list of Google advertising IDs or of SHA-256 or SHA-512 digests of e-mail addresses', {
        identifies: true,
      }),
      identifiers: ['SHA256_EMAIL', 'SHA512_EMAIL', 'GOOGLE_AID'],
    },
    segment_id: { ...segmentColumns.segment_id, description: 'ID of the segment at LinkedIn', oneOf: 'segment' },
    action: { ...segmentColumns.action, description: 'Whether the people are added to the segment or removed' },
    segment_name: {
      ...segmentColumns.segment_name,
      description: 'Name of the segment in the ad account, if its ID is not known',
      oneOf: 'segment',
    },
    email: {
      ...special('E-mail address; it is hashed before it is sent', { identifies: true, normalise: 'email' }),
      hashed: ['sha256', 'sha512'],
    },
    google_aid: special('Advertising ID of an Android device, not hashed', {
      identifies: true,
      normalise: 'device-id',
      synonyms: ['gaid', 'aaid'],
    }),
    first_name: plain('firstName', 'First name, not hashed; with the last name, it is enough to find the person', {
      identifies: true,
      normalise: 'text',
      synonyms: ['fname', 'given_name'],
    }),
    last_name: plain('lastName', 'Last name, not hashed; with the first name, it is enough to find the person', {
      normalise: 'text',
      synonyms: ['lname', 'family_name', 'surname'],
    }),
    title: plain('title', 'Job title; helps to match the person', { normalise: 'text', synonyms: ['job_title'] }),
    company: plain('company', 'Company; helps to match the person', { normalise: 'text', synonyms: ['company_name'] }),
    country: plain(
      'country',
      'Country, as its code or name; helps to match the person, and is left out if it is not known',
      { normalise: 'country', leftOutIfUnusable: true, upper: true },
    ),
  },
  finish,
  identity: (user) => (listIn(user.userIds).length > 0 ? user.userIds : user),
})
