import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOfSet, setTagOf, tagOfSet } from '../../../components/connection-set.ts'
import { isSameTarget, pendingTarget, readTargets, toggleTarget, withConnection, writeTargets } from './targets.ts'

const [a, b, c] = ['0123456789abcdef', 'fedcba9876543210', 'aaaabbbbccccdddd'] as const

test('the address keeps destinations, their configurations and their connections', () => {
  const targets = [{ connectorId: a }, { connectorId: a, configurationId: b }, { connectorId: b, connectionId: c }]
  assert.deepEqual(readTargets(writeTargets(targets)), targets)
  assert.equal(writeTargets(targets), `${a},${a}~${b},${b}~~${c}`)
  assert.deepEqual(readTargets(`,x,${a}~<b>,~~`), [{ connectorId: a }])
})

test('a destination is selected once, and stays once it has a connection', () => {
  const one = toggleTarget([], { connectorId: a })
  const both = toggleTarget(one, { connectorId: a, configurationId: b })
  assert.equal(both.length, 2)
  assert(!isSameTarget({ connectorId: a }, { connectorId: a, configurationId: b }))
  assert.deepEqual(toggleTarget(both, { connectorId: a }), [{ connectorId: a, configurationId: b }])
  const made = withConnection(both, c)
  assert.deepEqual(made, [
    { connectorId: a, connectionId: c },
    { connectorId: a, configurationId: b },
  ])
  assert.equal(pendingTarget(made), made[1])
  assert.deepEqual(toggleTarget(made, { connectorId: a }), made)
  assert.equal(pendingTarget(withConnection(made, b)), undefined)
})

test('a set has a tag of its own, which fits a tag', () => {
  assert.equal(tagOfSet('Shop', []), 'Set: Shop')
  assert.equal(tagOfSet('Shop', ['set: shop', 'Set: Shop 2']), 'Set: Shop 3')
  assert.equal(tagOfSet('Shop, north', []), 'Set: Shop north')
  const long = tagOfSet('x'.repeat(100), [`Set: ${'x'.repeat(45)}`])
  assert.equal(long.length, 50)
  assert(long.endsWith(' 2'))
  assert.equal(setTagOf(['production', 'set: Shop']), 'set: Shop')
  assert.equal(setTagOf(['Settings']), undefined)
  assert.equal(nameOfSet('Set: Shop'), 'Shop')
})
