import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Operation, type OperationId, operations, type Scope, userRoles } from '@penstock/wire'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Values of records, whole or masked: in every operation that returns some, for every role and for keys. */

const canary = 'canary.lovelace@example.com'
const born = '31.12.1985'
const view = '0123456789abcdef'

let fixture: Fixture
let connectionId = ''
let transferId = ''
before(async () => {
  fixture = await startFixture()
  await writeFile(join(fixture.folder, 'people.csv'), `E-Mail,geburtsdatum,net\n${canary},${born},"59,90"\n,,k.A.\n`)
  await fixture.target.query('create table people (email text)')
  connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, { table: 'people' })
  transferId = '0'.repeat(16)
})
after(() => fixture?.close())

/** A token with scopes. Null means every scope. */
async function tokenWith(scopes: readonly Scope[] | null): Promise<string> {
  const body = { name: 'Reader', ...(scopes && { scopes: [...scopes] }) }
  const { id: clientId, clientSecret } = await fixture.caller.expect(fixture.caller.call('createClient', { body }))
  const { response } = await fixture.service.call('createToken', { body: { clientId, clientSecret } })
  return response.accessToken
}

const withRecords = (scopes: readonly Scope[]) => scopes.includes('records:read')
const readers: readonly (readonly [name: string, scopes: readonly Scope[] | null])[] = [
  ['a key without limits', null],
  ...Object.entries(userRoles).map(([role, scopes]) => [role, scopes] as const),
  ['a key of an integration', ['connectors:write', 'connections:read', 'connections:write', 'transfers:run']],
  ['a key that reads records', ['records:read']],
]

/** Every operation that can return values of records. */
const showing: readonly OperationId[] = [
  'askSource',
  'discoverValues',
  'findDataSubject',
  'listRejects',
  'previewConnection',
  'previewSample',
  'tryDestination',
]

test('all operations that need the scope for records are looked at here', () => {
  const needing = Object.entries<Operation>(operations).filter(([, { scope }]) => scope === 'records:read')
  assert.deepEqual(
    needing.map(([id]) => id).filter((id) => !showing.includes(id as OperationId)),
    [],
  )
})

describe('values of records', () => {
  const path = () => ({ accountId: fixture.accountId, id: connectionId })
  for (const [name, scopes] of readers) {
    const mayRead = scopes === null || withRecords(scopes)
    test(`${name}: a preview ${mayRead ? 'is masked, and whole in a view' : 'is refused'}`, async () => {
      const token = await tokenWith(scopes)
      const mapping = JSON.stringify({
        email: 'E-Mail',
        born: { column: 'geburtsdatum' },
        first: { expression: 'substring(row["E-Mail"], 0, 1)' },
        net: { expression: 'number(net, "comma")' },
      })
      const bodies = [
        { unmapped: true },
        { partial: true, formsOf: 'email', destConnectionConfig: { mapping, filter: 'has(geburtsdatum)' } },
        { destConnectionConfig: { mapping } },
      ]
      for (const body of bodies) {
        const masked = await fixture.service.call('previewConnection', { ...path(), body, token })
        const whole = await fixture.service.call('previewConnection', { ...path(), body: { ...body, view }, token })
        if (!mayRead) {
          assert.deepEqual([masked.status, whole.status], [403, 403])
          continue
        }
        assert.deepEqual([masked.status, whole.status], [200, 200], masked.text + whole.text)
        assert.equal(masked.response.masked, true)
        assert.equal(whole.response.masked, undefined)
        for (const part of ['canary', 'lovelace', 'example', '1985', '31.12', '"c"']) {
          assert(!masked.text.includes(part), `${part}: ${masked.text}`)
        }
        assert(masked.text.includes('xxxx….xxxx…@xxxx….xxx'), masked.text)
        assert(masked.text.includes('##.##.####') || body === bodies[1], masked.text)
        assert(whole.text.includes(canary) && (whole.text.includes(born) || body === bodies[1]), whole.text)
      }
    })

    test(`${name}: samples of columns ${mayRead ? 'are masked, and whole in a view' : 'are absent'}`, async () => {
      const token = await tokenWith(scopes)
      const body = { field: 'columns', settings: { files: 'people.csv' } }
      const ask = (more: object) =>
        fixture.service.call('discoverValues', {
          accountId: fixture.accountId,
          id: localFolder.id,
          body: { ...body, ...more },
          token,
        })
      const [whole, masked] = [await ask({ view }), await ask({})]
      if (scopes && !scopes.includes('connectors:write')) {
        assert.deepEqual([whole.status, masked.status], [403, 403])
        return
      }
      assert.deepEqual([whole.status, masked.status], [200, 200])
      for (const { text } of [masked, ...(mayRead ? [] : [whole])]) assert.doesNotMatch(text, /canary|1985|31\.12/)
      assert.equal(masked.text.includes('##.##.####'), mayRead)
      assert.equal(whole.text.includes(canary), mayRead)
    })

    test(`${name}: other operations with values ${mayRead ? 'need no more than the scope' : 'are refused'}`, async () => {
      const token = await tokenWith(scopes)
      const { accountId } = fixture
      const statuses = [
        (await fixture.service.call('listRejects', { ...path(), transferId, token })).status,
        (
          await fixture.service.call('findDataSubject', {
            accountId,
            body: { values: [canary] } as never,
            token,
          })
        ).status,
        (await fixture.service.call('previewSample', { accountId, token })).status,
        (await fixture.service.call('askSource', { accountId, id: localFolder.id, body: {}, token })).status,
      ]
      if (!mayRead) assert.deepEqual(statuses, [403, 403, 403, 403])
      else assert(!statuses.slice(0, 3).includes(403), `${statuses}`)
    })
  }

  test('one view is one event in the audit log, without values, and another view is another event', async () => {
    const token = await tokenWith(null)
    const preview = (body: object) => fixture.service.call('previewConnection', { ...path(), body, token })
    const eventsOf = async (one: string) => {
      const query = { action: 'previewConnection', size: 500 }
      const { response } = await fixture.caller.call('listAudit', { query })
      assert.doesNotMatch(JSON.stringify(response), /canary|lovelace|31\.12/)
      return response.filter(({ details }) => (details as { view?: string } | null)?.view === one)
    }
    const [one, other] = ['1'.repeat(16), '2'.repeat(16)]
    await Promise.all([preview({ view: one, unmapped: true }), preview({ view: one })])
    await preview({ view: one, partial: true })
    await preview({ view: other })
    const [first] = await eventsOf(one)
    assert.deepEqual([(await eventsOf(one)).length, (await eventsOf(other)).length], [1, 1])
    assert.equal(first?.targetId, connectionId)
    await preview({ view: one, srcConnectionConfig: { files: 'p*.csv' } })
    assert.equal((await eventsOf(one)).length, 2, 'other files are other records')
  })

  test('a view is an identifier', async () => {
    for (const wrong of ['', 'x', view.toUpperCase(), 7, null]) {
      const { status } = await fixture.caller.call('previewConnection', { ...path(), body: { view: wrong } as never })
      assert.equal(status, 400, String(wrong))
    }
  })
})
