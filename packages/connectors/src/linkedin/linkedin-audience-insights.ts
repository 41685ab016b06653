import { text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { entitySource } from '../kit/entity-source.ts'
import { dimension, metric, ofAccount } from '../kit/report-columns.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { linkedinMarketing } from '../linkedin-ads/api.ts'
import { linkedinAuthorization } from '../linkedin-ads/authorization.ts'
import { adAccounts } from '../linkedin-ads/listings.ts'
import { signIn } from '../linkedin-ads/sign-in.ts'
import { linkedinApi } from '../linkedin-ads/version.ts'
import { type JsonObject, objectIn, parseJson, textIn } from '../platform-api/json.ts'
import { linkedin } from './platform.ts'

/** The facets of LinkedIn by which an audience can be divided. */
const facets: Readonly<Record<string, string>> = {
  job_function: 'jobFunctions',
  seniority: 'seniorities',
  job_title: 'titles',
  company: 'employers',
  company_size: 'staffCountRanges',
  industry: 'industries',
  location: 'locations',
  interest: 'interests',
  skill: 'skills',
  age: 'ageRanges',
  gender: 'genders',
}
const facetOf = (level: string): string => `urn:li:adTargetingFacet:${facets[level] ?? 'jobFunctions'}`

/** The targeting of a connection. `undefined` if it is not valid. */
function targetingIn(value: unknown): JsonObject | undefined {
  const criteria = objectIn(parseJson(textIn(value) ?? ''))
  return Array.isArray(objectIn(criteria.include).and) ? criteria : undefined
}

const segment = { key: ['segment_urn'], columns: ['segment_id', 'facet', 'members', 'share', 'audience_members'] }

/** The parts of an audience on LinkedIn. */
export const linkedinAudienceInsights = entitySource({
  slug: 'linkedin-audience-insights',
  name: 'LinkedIn Audience Insights',
  platform: linkedin,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  description: 'Reads from LinkedIn who is in a target audience and which companies they work for.',
  actions: ['get'],
  notes:
    'A row is a part of the audience, such as a job function, with its rounded number of members and its share. LinkedIn names parts by URNs, rounds numbers, and withholds small ones. One connection reads one audience, by the targeting that a campaign could have, divided by the chosen level. LinkedIn gives its Audience Insights API to partners whom it has approved for it.',
  tested:
    'Recorded answers that follow a published transcription of LinkedIn’s documentation of the Audience Insights API; not LinkedIn itself.',
  api: linkedinApi,
  platformApi: restApi({
    ...linkedinMarketing,
    errors: {
      ...linkedinMarketing.errors,
      statuses: {
        ...linkedinMarketing.errors?.statuses,
        400: ['request_refused', 'Check the targeting and the level.'],
        403: [
          'permission_denied',
          'LinkedIn must have approved the app for the Audience Insights API, and its user needs a role on the ad account.',
        ],
      },
    },
  }),
  auth: { open: async (context) => (await import('../linkedin-ads/tokens.ts')).openLinkedInTokens(context) },
  authorization: linkedinAuthorization('r_ads'),
  secrets: signIn,
  settings: {
    targeting: text({
      label: 'Targeting',
      description:
        'Targeting criteria of the audience, in the JSON format of LinkedIn’s API: {"include":{"and":[{"or":{"urn:li:adTargetingFacet:locations":["urn:li:geo:103644278"]}}]}}',
      required: true,
    }),
  },
  accounts: {
    label: 'Ad account IDs',
    id: /^(urn:li:sponsoredAccount:)?\d{1,20}$/,
    example: '512345678',
    normal: (id) => id.slice(id.lastIndexOf(':') + 1),
    get: (account) => ({ path: `/adAccounts/${account}` }),
    about: ({ json }) => ({ name: textIn(objectIn(json).name) }),
  },
  listed: { accountIds: adAccounts },
  always: ['account_id', 'account_name'],
  levels: Object.fromEntries(Object.keys(facets).map((level) => [level, segment])),
  columns: {
    account_id: ofAccount('account', 'ID of the ad account'),
    account_name: ofAccount('name', 'Name of the ad account'),
    segment_urn: dimension('URN of the part of the audience, such as a job function'),
    segment_id: dimension('ID at the end of this URN'),
    facet: dimension('Name of the facet at LinkedIn'),
    members: metric('whole', 'Rounded number of members in this part'),
    share: metric('percent', 'Share of the audience that is in this part, as a fraction'),
    audience_members: metric('whole', 'Rounded number of members in the audience'),
  },
  refuses: ({ settings }) =>
    targetingIn(settings.targeting)
      ? undefined
      : 'The targeting must be JSON with a list at include.and, such as {"include":{"and":[…]}}.',
  report: {
    form: 'pages',
    page: ({ account, level, context }) => ({
      method: 'POST',
      path: '/targetingAudienceInsights',
      query: { action: 'audienceInsights' },
      body: {
        request: {
          requestMetaData: { sponsoredAccount: `urn:li:sponsoredAccount:${account}` },
          targetingCriteria: targetingIn(context.settings.targeting),
          groupBy: facetOf(level),
        },
      },
      repeatable: true,
    }),
    rows({ json }, { level }) {
      const { audienceInsight, totalAudienceCount } = objectIn(objectIn(json).value)
      return rowsIn(objectIn(audienceInsight).segmentations)?.map(({ value, entityCount, entityPercentage }) => {
        const urn = textIn(value) ?? ''
        return {
          segment_urn: urn,
          segment_id: urn.slice(urn.lastIndexOf(':') + 1),
          facet: facets[level],
          members: entityCount,
          share: entityPercentage,
          audience_members: totalAudienceCount,
        }
      })
    },
  },
  check: { authentication: () => ({ path: '/adAccountUsers', query: { q: 'authenticatedUser' } }) },
})
