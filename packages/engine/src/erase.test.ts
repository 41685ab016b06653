import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectorError, type ErasedPerson, type PersonIdentifier } from '@penstock/connector'
import { eraseEach } from './erase.ts'

const people = ['a', 'b', 'c'].map((value): PersonIdentifier => ({ kind: 'externalId', value }))
const never = new AbortController().signal
const deleted: ErasedPerson = { outcome: 'deleted' }

/** Erases people by a function of their values, and notes who was asked for. */
async function erased(answerOf: (value: string) => ErasedPerson, signal = never) {
  const asked: string[] = []
  const results = await eraseEach(
    async ({ value }) => {
      asked.push(value)
      return answerOf(value)
    },
    people,
    signal,
  )
  return {
    asked: asked.join(''),
    outcomes: results.map(({ outcome }) => outcome),
    reasons: results.map((one) => one.reason),
  }
}

test('an error of one identifier leaves its outcome unknown, and the others are asked for', async () => {
  const { asked, outcomes, reasons } = await erased((value) => {
    if (value === 'a') throw new ConnectorError('object_not_found', 'The path is not known.')
    return value === 'b' ? { outcome: 'refused', reason: 'It is locked.' } : deleted
  })
  assert.deepEqual([asked, outcomes], ['abc', ['unknown', 'refused', 'deleted']])
  assert.deepEqual(reasons, ['The path is not known.', 'It is locked.', null])
})

test('refused credentials end it', async () => {
  const { asked, outcomes, reasons } = await erased((value) => {
    if (value === 'b') throw new ConnectorError('invalid_credentials', 'The key is refused.')
    return deleted
  })
  assert.deepEqual([asked, outcomes], ['ab', ['deleted', 'unknown', 'unknown']])
  assert.deepEqual(reasons, [null, 'The key is refused.', 'The key is refused.'])
})

test('outcomes that are known stay when the job ends, and nobody else is asked for', async () => {
  const end = new AbortController()
  const { asked, outcomes, reasons } = await erased((value) => {
    if (value === 'a') return deleted
    end.abort(new Error('It is late'))
    throw end.signal.reason
  }, end.signal)
  assert.deepEqual([asked, outcomes, reasons], ['ab', ['deleted', 'unknown', 'unknown'], [null, null, null]])
})

test('a defect is no outcome', async () => {
  await assert.rejects(
    erased(() => {
      throw new TypeError('x is not a function')
    }),
    TypeError,
  )
})
