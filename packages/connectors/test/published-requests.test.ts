import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { openJudge } from './published-requests.ts'

const request = (method: string, path: string, json?: unknown, search = '') => ({
  method,
  path,
  query: new URLSearchParams(search),
  headers: { revision: '2026-07-15' },
  json,
  text: json === undefined ? '' : JSON.stringify(json),
})

test('refuses keys, types, parameters and paths that the documents of a platform do not have', () => {
  const { refusal } = openJudge('customer-io')
  const batch = (one: object) => request('POST', '/api/v2/batch', { batch: [one] })
  const person = { type: 'person', action: 'identify', identifiers: { id: 'u1' } }
  assert.equal(refusal(batch(person)), undefined)
  assert.match(refusal(batch({ ...person, action: 'identity' })) ?? '', /batch/)
  assert.match(refusal(batch({ ...person, identifiers: { id: 1 } })) ?? '', /batch/)
  assert.match(refusal(batch({ ...person, identifiers: { id: 'u1', mail: 'a@example.com' } })) ?? '', /batch/)
  assert.match(refusal(request('POST', '/api/v2/bath', {})) ?? '', /have no POST/)
  const segment = (search: string, ids: unknown) => request('POST', '/api/v1/segments/7/add_customers', { ids }, search)
  assert.equal(refusal(segment('id_type=id', ['u1'])), undefined)
  assert.match(refusal(segment('type=id', ['u1'])) ?? '', /no parameter type/)
  assert.match(refusal(segment('', [])) ?? '', /fewer than 1/)
})

test('needs headers that the documents demand', () => {
  const { refusal } = openJudge('klaviyo')
  assert.equal(refusal(request('GET', '/api/accounts')), undefined)
  assert.match(refusal({ ...request('GET', '/api/accounts'), headers: {} }) ?? '', /needs revision/)
})

test('leaves out what a platform takes and its documents do not name', () => {
  const members = (judge: ReturnType<typeof openJudge>) =>
    judge.refusal(request('POST', '/3.0/lists/a/', { members: [{ email_address: 'a@example.com', tags: ['a'] }] }))
  const path = (judge: ReturnType<typeof openJudge>) =>
    judge.refusal(request('POST', '/3.0/lists/a', { members: [{ email_address: 'a@example.com', tags: ['a'] }] }))
  assert.match(members(openJudge('mailchimp')) ?? '', /have no POST/)
  assert.match(path(openJudge('mailchimp')) ?? '', /tags/)
  assert.equal(path(openJudge('mailchimp', ['members.*.tags'])), undefined)
})

test('every kept fact names its documents', () => {
  const files = globSync(join(import.meta.dirname, 'published/*.json'))
  assert.ok(files.length >= 5)
  for (const file of files) {
    const { sources } = JSON.parse(readFileSync(file, 'utf8')) as { sources: readonly string[] }
    assert.ok(sources.length > 0 && sources.every((source) => source.length > 20), basename(file))
  }
})
