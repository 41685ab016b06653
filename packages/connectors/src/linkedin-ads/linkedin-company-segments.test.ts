import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import {
  type LinkedInServer,
  linkedinRoutes,
  linkedinSecrets,
  refusal,
  type Segment,
  startLinkedIn,
} from '../../test/linkedin-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import { linkedinCompanySegments } from './linkedin-company-segments.ts'

const companies = /\/companies$/
const settings = { adAccountId: '500', sourcePlatform: 'PENSTOCK_TEST' }
const columns = [
  ...['segment_id', 'segment_name', 'action', 'company_name', 'company_domain', 'email_domain', 'organization_id'],
  'company_page_url',
]

await testDestination<LinkedInServer>({
  connector: linkedinCompanySegments,
  testServer: 'a server that keeps to what is known of LinkedIn',
  start: startLinkedIn,
  routes: linkedinRoutes,
  secrets: linkedinSecrets,
  wrongSecrets: { ...linkedinSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { ...settings, adAccountId: '501' },
  columns,
  posts: companies,
  measures: {
    request: /GET .*dmpSegments\/\d+$/,
    reply: (id) => ({
      id: Number(id),
      inputCount: 5000,
      destinations: [{ destination: 'LINKEDIN', status: 'READY', audienceSize: 2900, matchedCount: 310 }],
    }),
    measure: { low: 2900, high: 2900, received: 5000, matched: null, status: 'READY' },
  },
  accepts: {
    columns: ['segment_name', 'action', 'company_domain'],
    rows: Array.from({ length: 12 }, (_, n) => ['Prospects', 'add', `${n}.example`]),
    badRows: [
      { row: ['Prospects', 'add', 'no domain'], reason: /must be a domain/, field: 'company_domain' },
      { row: ['Prospects', 'swap', 'a.example'], reason: /must be/, field: 'action' },
      { row: ['Prospects', 'add', 'refused.example'], reason: /did not accept/ },
    ],
    readBack(server) {
      assert.ok(server.segments.length < 2, 'a second segment was made')
      const members = [...(server.segments[0]?.members.values() ?? [])]
      return members.map(({ companyWebsiteDomain }) => ['Prospects', 'add', String(companyWebsiteDomain)])
    },
    reset: (server) => {
      server.segments.length = 0
    },
    problems: [
      [{ status: 429, json: {} }, 'limits calls', 'retry'],
      [{ status: 500, text: '<html>' }, 'has an internal error', 'retry'],
      [refusal(403, 'ACCESS_DENIED'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { deliver } = scene
    const company = (action: string, ...about: Cell[]): Cell[] => [null, 'Prospects', action, ...about]
    const addSegment = (id: string, type: NonNullable<Segment['type']>) =>
      scene.server.segments.push({
        id,
        name: 'Prospects',
        account: 'urn:li:sponsoredAccount:500',
        type,
        members: new Map(),
        unreadyRequests: 0,
      })

    test('sends companies as LinkedIn documents them, and finds segments of companies alone', async () => {
      addSegment('1', 'USER')
      addSegment('2', 'COMPANY')
      const { rejected } = await deliver([
        company(
          'add',
          'Microsoft',
          'microsoft.com',
          'ms.example',
          '1035',
          'https://www.linkedin.com/company/microsoft',
        ),
        company('add', null, null, null, 'urn:li:organization:7', null),
        company('remove', 'Gone', null, null, null, null),
      ])
      assert.deepEqual(rejected, [])
      assert.deepEqual(
        scene.server.received.filter(({ path }) => companies.test(path)).map(({ path, json }) => [path, json]),
        [
          [
            '/rest/dmpSegments/2/companies',
            {
              elements: [
                {
                  action: 'ADD',
                  companyName: 'Microsoft',
                  companyWebsiteDomain: 'microsoft.com',
                  companyEmailDomain: 'ms.example',
                  companyPageUrl: 'https://www.linkedin.com/company/microsoft',
                  organizationUrn: 'urn:li:organization:1035',
                },
                { action: 'ADD', organizationUrn: 'urn:li:organization:7' },
              ],
            },
          ],
          ['/rest/dmpSegments/2/companies', { elements: [{ action: 'REMOVE', companyName: 'Gone' }] }],
        ],
      )
    })

    test('makes a segment of companies, and names the rows that cannot be sent or are not accepted', async () => {
      const rows: [Cell[], string | undefined][] = [
        [company('add', null, null, null, null, null), 'company_domain'],
        [company('add', null, 'https://example.com/', null, null, null), 'company_domain'],
        [company('add', null, null, 'jane@example.com', null, null), 'email_domain'],
        [company('add', null, null, null, 'Microsoft', null), 'organization_id'],
        [[null, null, 'add', 'Acme', null, null, null, null], 'segment_id'],
        [company('add', null, 'refused.example', null, null, null), undefined],
      ]
      const { rejected = [] } = await deliver([
        ...rows.map(([row]) => row),
        company('add', 'Acme', null, null, null, null),
      ])
      const sorted = rejected.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
      assert.deepEqual(
        sorted.map(({ index, field }) => [index, field]),
        rows.map(([, field], index) => [index, field]),
      )
      for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|https/)
      assert.deepEqual(
        scene.server.segments.map(({ type, members }) => [type, [...members.values()]]),
        [['COMPANY', [{ action: 'ADD', companyName: 'Acme' }]]],
      )
    })
  },
})
