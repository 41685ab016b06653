import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { errorOf } from '../kit/run/open-api.ts'
import { googleAdsApi } from './google-ads-api.ts'
import { googleAdsReporting } from './google-ads-reporting.ts'
import { readGaql } from './own-query.ts'

describe('a query of one’s own in GAQL', () => {
  test('is refused with the field and what to do', () => {
    for (const [query, message] of [
      ['', /Set “GAQL query” to a SELECT statement/],
      ['DELETE FROM campaign', /must be one SELECT statement/],
      ['SELECT campaign.id FROM campaign; SELECT a.b FROM c', /must be one SELECT statement/],
      ['SELECT campaign.id metrics.clicks FROM campaign', /“campaign\.id metrics\.clicks” is not a field/],
      ['SELECT count(campaign.id) FROM campaign', /“count\(campaign\.id\)” is not a field/],
      ['SELECT campaign.id, campaign.id FROM campaign', /selects campaign\.id twice/],
      ["SELECT segments.date FROM campaign WHERE segments.date = '2026-01-01'", /Remove the condition or order of/],
      ['SELECT segments.date FROM campaign LIMIT 5', /Remove LIMIT/],
      ['SELECT segments.date FROM campaign campaign.id = 5', /is not a WHERE condition/],
    ] as const) {
      assert.throws(() => readGaql(query), { code: 'invalid_setting', message })
    }
  })

  test('gets its days in front of what follows the conditions', () => {
    const textOf = (rest: string) => readGaql(`SELECT segments.date FROM campaign${rest}`).textOf('a', 'b')
    const days = "SELECT segments.date FROM campaign WHERE segments.date BETWEEN 'a' AND 'b'"
    assert.equal(textOf(''), days)
    assert.equal(textOf(' PARAMETERS include_drafts=true'), `${days} PARAMETERS include_drafts=true`)
    assert.equal(textOf(' WHERE campaign.name = "LIMIT 5"'), `${days} AND campaign.name = "LIMIT 5"`)
  })
})

test('a query is refused next to other choices, and for a range if it has no days', async () => {
  const open = async (settings: object, range?: { from: string; to: string }) => {
    const own = { accountIds: '111-222-3333', gaqlQuery: 'SELECT campaign.id FROM campaign', ...settings }
    const secrets = { clientId: 'a', clientSecret: 'b', refreshToken: 'c' }
    return await googleAdsReporting.source?.open?.(testContext({ secrets, settings: own, ...(range && { range }) }))
  }
  await assert.rejects(open({ level: 'ad' }), { code: 'invalid_setting', message: /replaces level, breakdowns/ })
  await assert.rejects(open({ metrics: ['clicks'] }), { code: 'invalid_setting', message: /Clear these settings/ })
  await assert.rejects(open({}, { from: '2026-01-01', to: '2026-01-31' }), {
    code: 'invalid_setting',
    message: /has no days\. Start a transfer without a range/,
  })
  await assert.rejects(open({ gaqlQuery: '', level: 'click' }), {
    message: /The level click has only the metric clicks/,
  })
  assert.ok(await open({ preset: 'Campaigns', breakdowns: [] }))
})

test('a refused query names the fields, and no values', () => {
  const refused = (queryError: string, message: string) =>
    errorOf(googleAdsApi, {
      status: 400,
      json: { error: { status: 'INVALID_ARGUMENT', details: [{ errors: [{ errorCode: { queryError }, message }] }] } },
    } as never)
  for (const [code, message, expected] of [
    ['UNRECOGNIZED_FIELD', "Unrecognized field in the query: 'campaign.bogus'.", /does not know campaign\.bogus\./],
    [
      'PROHIBITED_METRIC_IN_SELECT_OR_WHERE_CLAUSE',
      "Cannot select or filter on the following metrics: 'clicks'(could not support requested resources: 'CLICK_VIEW'), 'ctr'",
      /cannot combine clicks, ctr with the rest/,
    ],
    ['BAD_VALUE', "Invalid value 'secret'.", /Check the query or the fields that are read: BAD_VALUE/],
  ] as const) {
    const error = refused(code, message)
    assert.equal(error?.code, 'request_refused')
    assert.match(error?.message ?? '', expected)
    assert.doesNotMatch(error?.message ?? '', /secret|CLICK_VIEW/)
  }
})
