import { after } from 'node:test'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import { hubspotRoutes, hubspotSecrets as secrets, startHubSpot } from '../../test/hubspot-server.ts'
import { hangOf, problemOf } from '../../test/platform-server.ts'
import { hubspotCrm as connector } from './hubspot-crm.ts'

const testServer = 'a server that follows the published reference of HubSpot'
const wrongSecrets = { authType: 'token', accessToken: 'pat-eu1-of-another-account' }

const written = await startHubSpot()
const read = await startHubSpot()
after(() => Promise.all([written.close(), read.close()]))

const upserts = /batch\/upsert$/
const dailyLimit = { status: 429, json: { category: 'RATE_LIMITS', policyName: 'DAILY' } }

acceptDestination({
  connector,
  testServer,
  secrets,
  wrongSecrets,
  settings: { objectType: 'contacts', idProperty: 'email', operation: 'upsert' },
  missing: { objectType: 'spaceships', idProperty: 'email' },
  context: { routes: hubspotRoutes(written.url) },
  columns: ['email', 'firstname', 'age'],
  rows: Array.from({ length: 12 }, (_, n) => [`${n}@example.com`, `Name ${n}`, String(n)]),
  badRows: [
    { row: [null, 'No one', null], reason: /no value in “email”/, field: 'email' },
    { row: ['old@example.com', null, 'antique'], reason: /INVALID_INTEGER.*“age”/, field: 'age' },
    { row: ['s@example.com', 'sinks', null], reason: /INVALID_OPTION.*“firstname”/ },
  ],
  async readBack() {
    const { records = [] } = written.objects.contacts ?? {}
    return records.map(({ properties: { email = '', firstname = '', age = '' } }) => [email, firstname, age])
  },
  reset: () => written.objects.contacts?.records.splice(0),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(written, upserts, dailyLimit, { name: 'has no more requests', action: 'retry', afterMs: 3_600_000 }),
    problemOf(written, upserts, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(written, upserts, { status: 403, json: {} }, { name: 'denies access', action: 'reconfigure' }),
    problemOf(written, upserts, 'reset after', { name: 'breaks off when all is done', action: 'retry' }),
  ],
  hang: hangOf(written, upserts),
})

const people = Array.from({ length: 250 }, (_, n) =>
  read.add('contacts', { email: `${n}@example.com`, age: String(n) }),
)
const contacts = /GET .*objects\/2026-03\/contacts$/

acceptSource({
  connector,
  testServer,
  secrets,
  wrongSecrets,
  settings: { objectType: 'contacts', properties: 'email, age', syncMode: 'Full' },
  missing: { objectType: 'contacts', properties: 'shoe_size' },
  context: { routes: hubspotRoutes(read.url) },
  columns: ['hs_object_id', 'email', 'age'],
  rows: people.map(({ id, properties: { email = '', age = '' } }) => [id, email, age]),
  errors: [
    problemOf(read, contacts, dailyLimit, { name: 'has no more requests', action: 'retry', code: 'rate_limited' }),
    problemOf(read, contacts, { status: 401, json: {} }, { name: 'refuses the token', action: 'reauthenticate' }),
    problemOf(read, contacts, { json: { results: [{ id: {} }] } }, { name: 'answers something else', action: 'retry' }),
  ],
  hang: hangOf(read, contacts),
})
