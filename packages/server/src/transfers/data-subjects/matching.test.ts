import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { matcherOf } from './matching.ts'

const digest = (algorithm: string, text: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHash(algorithm).update(text).digest(encoding)

describe('a stored value is of a person', () => {
  const isJane = matcherOf([' Jane.Doe@Example.com', '+49 30 1234567', 'CRM-00017'])
  const yes = [
    'jane.doe@example.com',
    '  JANE.DOE@EXAMPLE.COM ',
    'Jane Doe <jane.doe@example.com>',
    '["x","jane.doe@example.com"]',
    'is refused: jane.doe@example.com.',
    '+49301234567',
    '0049 30 / 12345-67',
    '030 1234567',
    '49301234567',
    'crm-00017',
    digest('sha256', 'jane.doe@example.com'),
    digest('sha256', 'jane.doe@example.com').toUpperCase(),
    digest('sha256', 'jane.doe@example.com', 'base64'),
    digest('md5', 'jane.doe@example.com'),
    digest('sha256', '+49301234567'),
    digest('sha256', '49301234567'),
  ]
  for (const value of yes) test(`${value}: yes`, () => assert.equal(isJane(value), true))
  const no = [
    '',
    'jane.doe@example.com.au',
    'mary-jane.doe@example.com',
    'jane.doe@example.community',
    'jane.doe',
    '1234567',
    '+49301234568',
    '+4930123456',
    'CRM-000171',
    'XCRM-00017',
    digest('sha256', 'john.doe@example.com'),
    'a'.repeat(64),
  ]
  for (const value of no) test(`${value || 'nothing'}: no`, () => assert.equal(isJane(value), false))

  test('characters of patterns are only themselves', () => {
    assert.equal(matcherOf(['a.*+?^$()|[]/-b'])('a.*+?^$()|[]/-b'), true)
    assert.equal(matcherOf(['.....'])('abcde'), false)
    assert.equal(matcherOf(['(((((('])('('), false)
  })
})
