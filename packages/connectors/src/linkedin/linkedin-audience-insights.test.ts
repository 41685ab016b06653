import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { linkedinAudienceInsights } from './linkedin-audience-insights.ts'

const targetingCriteria = {
  include: { and: [{ or: { 'urn:li:adTargetingFacet:locations': ['urn:li:geo:103644278'] } }] },
}
const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/rest/adAccounts/${id}`, answer })
const insights = (id: string, facet: string, answer: Exchange['answer']): Exchange => ({
  method: 'POST',
  path: '/rest/targetingAudienceInsights',
  query: { action: 'audienceInsights' },
  headers: { 'linkedin-version': '202607', 'x-restli-protocol-version': '2.0.0' },
  body: {
    request: {
      requestMetaData: { sponsoredAccount: `urn:li:sponsoredAccount:${id}` },
      targetingCriteria,
      groupBy: `urn:li:adTargetingFacet:${facet}`,
    },
  },
  answer,
})
const settings = { accountIds: '512,513', level: 'interest', targeting: JSON.stringify(targetingCriteria) }
const columns = [
  'account_id',
  'account_name',
  'segment_urn',
  'segment_id',
  'facet',
  'members',
  'share',
  'audience_members',
]
const of = (id: string, urn: string, members: number, share: string, facet = 'interests') => [
  ...[id, `Shop ${id}`, urn, urn.slice(urn.lastIndexOf(':') + 1), facet, members, share, 5_500_000],
]
const answer = (segmentations: object[]) => ({
  json: { value: { audienceInsight: { segmentations }, totalAudienceCount: 5_500_000 } },
})
const part = (value: string, entityCount: number, entityPercentage: number) => ({
  value,
  entityCount,
  entityPercentage,
})

await testReportSource({
  connector: linkedinAudienceInsights,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://api.linkedin.com', 'https://www.linkedin.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/oauth/v2/accessToken') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    {
      method: 'POST',
      path: '/oauth/v2/accessToken',
      answer: { json: { access_token: 'access', expires_in: 5_184_000 } },
    },
    { path: '/rest/adAccountUsers', query: { q: 'authenticatedUser' }, answer: { json: { elements: [] } } },
    account('512', { json: { id: 512, name: 'Shop 512' } }),
    account('513', { json: { id: 513, name: 'Shop 513' } }),
  ],
  reads: /targetingAudienceInsights/,
  revokes: /^(GET|POST) \/rest\//,
  revoked: { status: 401, json: { serviceErrorCode: 65_601 } },
  failures: [
    [{ status: 400, json: { code: 'INVALID_PARAMS' } }, 'fail', 'request_refused'],
    [{ json: { value: {} } }, 'retry', 'malformed_response'],
  ],
  refused: { account: '777', exchanges: [account('777', { status: 403, json: { code: 'ACCESS_DENIED' } })] },
  refusals: [{ status: 403, json: { code: 'ACCESS_DENIED' } }],
  transient: [],
  nextPage: 'none',
  examples: [
    {
      title: 'reads the parts of an audience for each account, with shares as fractions',
      settings,
      exchanges: [
        insights(
          '512',
          'interests',
          answer([part('urn:li:interest:71363', 4_900_000, 89), part('urn:li:interest:420', 4_500_000, 82)]),
        ),
        insights('513', 'interests', answer([part('urn:li:interest:420', 300, 0.5)])),
      ],
      columns,
      rows: [
        of('512', 'urn:li:interest:71363', 4_900_000, '0.89'),
        of('512', 'urn:li:interest:420', 4_500_000, '0.82'),
        of('513', 'urn:li:interest:420', 300, '0.005'),
      ],
    },
    {
      title: 'reads an audience that is too small to be divided',
      settings: { ...settings, accountIds: 'urn:li:sponsoredAccount:512', level: 'job_function' },
      exchanges: [insights('512', 'jobFunctions', answer([]))],
      columns,
      rows: [],
    },
  ],
})
