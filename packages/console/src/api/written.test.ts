import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryClient } from '@tanstack/react-query'
import { showWritten } from './written.ts'

const of = { accountId: 'a', id: 'c1' }

test('the reply of a write is shown in lists and pages of the resource, with what only they know', () => {
  const queries = new QueryClient()
  const other = { id: 'c2', name: 'Other', status: 'active' }
  queries.setQueryData(['getConnection', of], { reply: { id: 'c1', status: 'draft', drift: 'stop' }, etag: '"1"' })
  queries.setQueryData(['listConnections', {}], { reply: [{ id: 'c1', status: 'draft' }, other], total: 2 })
  queries.setQueryData(['volume', {}], { total: 5 })
  showWritten(queries, 'updateConnectionStatus', of, { reply: { id: 'c1', name: 'New', status: 'active' } })
  assert.deepEqual(queries.getQueryData(['getConnection', of]), {
    reply: { id: 'c1', status: 'active', drift: 'stop' },
    etag: '"1"',
  })
  const list = queries.getQueryData<{ reply: unknown[]; total: number }>(['listConnections', {}])
  assert.deepEqual(list, { reply: [{ id: 'c1', status: 'active' }, other], total: 2 })
  assert.equal(list?.reply[1], other, 'others stay as they are')
  assert.deepEqual(queries.getQueryData(['volume', {}]), { total: 5 })
})

test('a setting is shown where it is read, of this connection only', () => {
  const queries = new QueryClient()
  const another = { accountId: 'a', id: 'c2' }
  for (const at of [of, another]) queries.setQueryData(['getDrift', at], { reply: { drift: 'ignore' } })
  showWritten(queries, 'setDrift', { ...of, body: { drift: 'add' } }, { reply: { drift: 'add' } })
  assert.deepEqual(queries.getQueryData(['getDrift', of]), { reply: { drift: 'add' } })
  assert.deepEqual(queries.getQueryData(['getDrift', another]), { reply: { drift: 'ignore' } })
})
