import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorOf } from '../kit/run/open-api.ts'
import { googleAdsApi } from './google-ads-api.ts'
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
