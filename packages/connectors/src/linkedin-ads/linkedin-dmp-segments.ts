import { column, defineConnector, inspectBy, text } from '@penstock/connector'
import { linkedinAuthorization } from './authorization.ts'
import { linkedinAds } from './platform.ts'
import { signIn } from './sign-in.ts'
import { linkedinApi } from './version.ts'

/** Members of DMP segments of LinkedIn. */
export const linkedinDmpSegments = defineConnector({
  slug: 'linkedin-dmp-segments',
  name: 'LinkedIn DMP Segments',
  platform: linkedinAds,
  dataType: 'audience DMP segments',
  dataTypeCategory: 'audience activation',
  description: 'Adds people to DMP segments of LinkedIn, or removes them.',
  actions: ['add', 'remove'],
  notes:
    'LinkedIn offers this API to approved partners only. The app needs the Audiences product with the scope rw_dmp_segments, and its user needs a role on the ad account other than viewer. Rows identify a segment by its ID, or by its name in the ad account of the connection. A segment with a new name is created if the connection has the source platform that LinkedIn assigned to your app. A new segment accepts members after some seconds or minutes, and can be targeted after up to 48 hours, when 300 people have been matched. Send only people who have agreed to it: LinkedIn does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of LinkedIn’s DMP Segments API; not LinkedIn itself.',
  api: linkedinApi,
  secrets: signIn,
  authorization: linkedinAuthorization('rw_dmp_segments', 'r_ads'),
  check: async (context) => (await import('./check.ts')).checkLinkedIn(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 5000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-segments.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertRole(context)),
    },
    fields: {
      adAccountId: text({
        label: 'Ad account ID',
        description: 'ID of the ad account that owns the segments; needed if rows identify segments by name',
      }),
      sourcePlatform: text({
        label: 'Source platform',
        description: 'Name that LinkedIn assigned to your app as a source of segments; needed to create segments',
      }),
    },
    records: {
      userIds: column({
        description:
          'The people: a list of Google advertising IDs or of SHA-256 or SHA-512 digests of e-mail addresses',
        oneOf: 'identifier',
        identifiers: ['SHA256_EMAIL', 'SHA512_EMAIL', 'GOOGLE_AID'],
      }),
      segment_id: column({
        description: 'ID of the segment at LinkedIn',
        oneOf: 'segment',
        synonyms: ['audience_id', 'list_id'],
      }),
      action: column({
        description: 'Whether the people are added to the segment or removed',
        required: true,
        values: ['add', 'remove'],
      }),
      segment_name: column({
        description: 'Name of the segment in the ad account, if its ID is not known',
        oneOf: 'segment',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      email: column({
        description: 'E-mail address; it is hashed before it is sent',
        oneOf: 'identifier',
        normalise: 'email',
        hashed: ['sha256', 'sha512'],
      }),
      google_aid: column({
        description: 'Advertising ID of an Android device, not hashed',
        oneOf: 'identifier',
        normalise: 'device-id',
        synonyms: ['gaid', 'aaid'],
      }),
      first_name: column({
        description: 'First name, not hashed; helps to match the person',
        normalise: 'text',
        synonyms: ['fname', 'given_name'],
      }),
      last_name: column({
        description: 'Last name, not hashed; helps to match the person',
        normalise: 'text',
        synonyms: ['lname', 'family_name', 'surname'],
      }),
      title: column({
        description: 'Job title; helps to match the person',
        normalise: 'text',
        synonyms: ['job_title'],
      }),
      company: column({
        description: 'Company; helps to match the person',
        normalise: 'text',
        synonyms: ['company_name'],
      }),
      country: column({ description: 'Country, as its code or name; helps to match the person', normalise: 'country' }),
    },
  },
})
