import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TransferErrorCode, transferErrors } from '@penstock/wire'
import { components } from '../strings/components.ts'
import { adviceBeforeTransfer, adviceOf } from './advice.ts'

const codes = Object.keys(transferErrors) as TransferErrorCode[]

test('every error has its own advice, which is not the advice for values and settings', () => {
  for (const code of codes) {
    const advice = adviceOf(code) ?? ''
    assert.match(advice, /^[A-Z].*\.$/s, code)
    assert.notEqual(advice, components.findingsFix, code)
    assert.doesNotMatch(
      adviceBeforeTransfer(code) ?? '',
      /then (?:activate|start)|start (?:a new transfer|the transfer again)/i,
      code,
    )
  }
  assert.equal(adviceOf('of_an_earlier_version'), undefined)
})

test('errors of different kinds have different advice, which names the kind', () => {
  const kinds: readonly [code: TransferErrorCode, names: RegExp][] = [
    ['host_not_found', /DNS/],
    ['unreachable', /port.*server is running/],
    ['wrong_protocol', /port/],
    ['certificate_not_trusted', /certificate/],
    ['host_key_not_trusted', /fingerprint/],
    ['timeout', /slow/],
    ['statement_timeout', /statement timeout/],
    ['invalid_credentials', /valid credentials/],
    ['expired_credentials', /renew/],
    ['permission_denied', /permission/],
    ['table_not_found', /table/],
    ['column_not_found', /column/],
    ['bucket_not_found', /bucket/],
    ['rate_limited', /limit/],
    ['disk_full', /space/],
    ['digests_full', /limit/],
    ['address_not_allowed', /PENSTOCK_EGRESS_ALLOW/],
    ['columns_do_not_fit', /mapping/],
    ['invalid_setting', /setting/],
    ['nothing_accepted', /rejected records/],
  ]
  for (const [code, names] of kinds) assert.match(adviceOf(code) ?? '', names, code)
  assert.equal(new Set(kinds.map(([code]) => adviceOf(code))).size, kinds.length)
})
