import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitMsOf } from './rate-limit.ts'

const now = Date.parse('2026-01-31T12:00:00Z')
const waitMs = (headers: Record<string, string>) => waitMsOf({ headers: new Headers(headers) }, now)

test('what an answer asks to wait is read in every form that platforms write it in', () => {
  const forms: [Record<string, string>, number | undefined][] = [
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Sat, 31 Jan 2026 12:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'Sat, 31 Jan 2026 11:00:00 GMT' }, 0],
    [{ 'ratelimit-reset': '30' }, 30_000],
    [{ 'x-ratelimit-reset': '0.5' }, 500],
    [{ 'x-ratelimit-reset': String(now / 1000 + 12) }, 12_000],
    [{ 'x-rate-limit-reset': String(now / 1000 - 12) }, 0],
    [{ 'x-rate-limit-reset': String(now + 1_500) }, 1_500],
    [{ 'x-ratelimit-reset-after': '2.25' }, 2_250],
    [{ 'x-ratelimit-reset': '2026-01-31T12:01:00Z' }, 60_000],
    [{ ratelimit: '"default";r=0;t=45' }, 45_000],
    [{ ratelimit: '"burst";r=0;t=5, "daily";r=100;t=5000, "hour"; r=0; t=90' }, 90_000],
    // An explicit wait has priority.
    [{ 'retry-after': '1', 'x-ratelimit-reset': '50' }, 1_000],
  ]
  for (const [headers, wanted] of forms) assert.equal(waitMs(headers), wanted, JSON.stringify(headers))
})

test('what a body asks to wait is read if no header does', () => {
  const bodyOf = (json: unknown, headers = {}) => waitMsOf({ headers: new Headers(headers), json }, now)
  const quota = {
    errorCode: { quotaError: 'RESOURCE_TEMPORARILY_EXHAUSTED' },
    details: { quotaErrorDetails: { rateScope: 'DEVELOPER', retryDelay: '30s' } },
  }
  const ofGoogleAds = { error: { code: 429, details: [{ errors: [quota] }] } }
  assert.equal(bodyOf(ofGoogleAds), 30_000)
  assert.equal(bodyOf([ofGoogleAds]), 30_000)
  assert.equal(bodyOf({ error: { details: [{ '@type': 'x/google.rpc.RetryInfo', retryDelay: '1.25s' }, {}] } }), 1_250)
  assert.equal(bodyOf({ code: 8, message: 'Rate limit. Retry after 40 seconds' }), 40_000)
  assert.equal(bodyOf(ofGoogleAds, { 'retry-after': '7' }), 7_000)
  for (const odd of [null, 'x', 7, [], { error: { details: [{ retryDelay: 'soon' }, { retryDelay: '-1s' }, 7] } }]) {
    assert.equal(bodyOf(odd), undefined, JSON.stringify(odd))
  }
})

test('what is no wait is none', () => {
  for (const value of ['', 'soon', '-5', '1e3', 'NaN', '900000', '99999999999999999999', '2026-99-99T00:00:00Z']) {
    assert.equal(waitMs({ 'x-ratelimit-reset': value }), undefined, value)
  }
  assert.equal(waitMs({ ratelimit: '"default";r=3;t=45' }), undefined)
  assert.equal(waitMs({ 'retry-after': 'tomorrow', 'x-ratelimit-reset': 'x', 'ratelimit-reset': '3' }), 3_000)
  assert.equal(waitMs({}), undefined)
})
