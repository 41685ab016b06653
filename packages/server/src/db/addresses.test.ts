import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUrl, passOver, refuseStandby, splitAddress } from './addresses.ts'

test('an address of several hosts is one address for each', () => {
  const cases = {
    'postgres://db/penstock': ['postgres://db/penstock'],
    'postgres://u:p,%40@a,b:5433/penstock?sslmode=require': [
      'postgres://u:p,%40@a/penstock?sslmode=require',
      'postgres://u:p,%40@b:5433/penstock?sslmode=require',
    ],
    'postgres://[fd12::7]:5432,[fd12::8]/db': ['postgres://[fd12::7]:5432/db', 'postgres://[fd12::8]/db'],
    'postgres:///db?host=/run/postgresql,/tmp': ['postgres:///db?host=/run/postgresql,/tmp'],
  }
  for (const [text, addresses] of Object.entries(cases)) assert.deepEqual(splitAddress(text), addresses)
})

test('a server that fails is passed over once, however many connections fail, and the last one leads to the first', () => {
  const url = 'postgres://one,two/db'
  assert.equal(currentUrl(url), 'postgres://one/db')
  for (const _ of [1, 2]) passOver(url, 'postgres://one/db')
  assert.equal(currentUrl(url), 'postgres://two/db')
  passOver(url, 'postgres://two/db')
  assert.equal(
    currentUrl(() => url),
    'postgres://one/db',
  )
  assert.equal(refuseStandby('postgres://one/db'), '')
})
