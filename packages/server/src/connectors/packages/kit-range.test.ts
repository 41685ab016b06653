import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitsKit } from './kit-range.ts'

test('a package runs with the versions of the kit that npm would give it', () => {
  const fit = ['^0.1.0', '~0.1.0', '0.1.2', '>=0.1.0', '*', '0.1.x', '^0.0.9 || ^0.1.1', '0.1']
  const other = [
    '^0.2.0',
    '^1.0.0',
    '0.1.3',
    '^0.1.3',
    '~0.0.1',
    'latest',
    '',
    'file:../kit',
    '^0.1.0 <0.1.2',
    '>=0.2.0',
  ]
  assert.deepEqual(
    fit.filter((range) => !fitsKit(range, '0.1.2')),
    [],
  )
  assert.deepEqual(
    other.filter((range) => fitsKit(range, '0.1.2')),
    [],
  )
  assert.equal(fitsKit('^1.2.0', '1.10.0'), true)
  assert.equal(fitsKit('^1.2.0', '1.1.9'), false)
  assert.equal(fitsKit('^1.2.0', '2.0.0'), false)
})
