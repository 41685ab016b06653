import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { loadPackage } from '../../../../test/harness/downloads.ts'
import { salesforceUser, startSalesforce } from '../../test/salesforce-server.ts'

/** Salesforce's own client for Node, jsforce, makes the calls of the connectors, and understands the answers of the test server. */

type Row = Readonly<Record<string, string>>
type JobResults = {
  readonly successfulResults: readonly Row[]
  readonly failedResults: readonly Row[]
  readonly unprocessedRecords: readonly Row[]
}
/** The part of the client that is used here. */
type Client = {
  readonly accessToken: string
  readonly bulk2: {
    pollInterval: number
    loadAndWaitForResults(job: Readonly<Record<string, unknown>>): Promise<JobResults>
    query(soql: string, options?: { scanAll: boolean }): Promise<{ toArray(): Promise<readonly Row[]> }>
  }
  describeGlobal(): Promise<{ readonly sobjects: readonly { readonly name: string; readonly updateable: boolean }[] }>
  describe(
    object: string,
  ): Promise<{ readonly fields: readonly { readonly name: string; readonly idLookup: boolean }[] }>
}

const server = await startSalesforce()
after(() => server.close())
server.instanceUrl = server.url

const jsforce = await loadPackage<{
  readonly Connection: new (settings: Readonly<Record<string, unknown>>) => Client
}>('jsforce', '3.10.16')
const clientOf = (clientSecret: string) =>
  new jsforce.Connection({
    oauth2: { loginUrl: server.url, clientId: salesforceUser.clientId, clientSecret },
    instanceUrl: server.url,
    accessToken: 'expired',
    refreshToken: salesforceUser.refreshToken,
    version: '64.0',
  })
const client = clientOf(salesforceUser.clientSecret)
client.bulk2.pollInterval = 1
const job = (operation: string, input: readonly object[]) =>
  client.bulk2.loadAndWaitForResults({
    object: 'Contact',
    operation,
    ...(operation === 'upsert' && { externalIdFieldName: 'Customer_Key__c' }),
    input,
    pollInterval: 1,
  })

test('renews its token, and describes objects', async () => {
  const { sobjects } = await client.describeGlobal()
  assert.deepEqual(
    sobjects.map(({ name, updateable }) => [name, updateable]),
    [
      ['Contact', true],
      ['Login', false],
    ],
  )
  assert.notEqual(client.accessToken, 'expired')
  const { fields } = await client.describe('Contact')
  assert.deepEqual(
    fields.filter(({ idLookup }) => idLookup).map(({ name }) => name),
    ['Id', 'Customer_Key__c'],
  )
  await assert.rejects(client.describe('Absent'), { errorCode: 'NOT_FOUND' })
  await assert.rejects(clientOf('another').describeGlobal(), /Unable to refresh session/)
})

test('writes contacts by their key, and is told which are new, and why others are refused', async () => {
  const { successfulResults, failedResults, unprocessedRecords } = await job('upsert', [
    { Customer_Key__c: 'k1', LastName: 'Zoë "1", \n2', Email: 'a@example.com' },
    { Customer_Key__c: 'k2', LastName: 'Other', Email: 'none' },
  ])
  assert.deepEqual(
    successfulResults.map(({ sf__Created, LastName }) => [sf__Created, LastName]),
    [['true', 'Zoë "1", \n2']],
  )
  assert.deepEqual([failedResults.length, unprocessedRecords.length], [1, 0])
  assert.match(failedResults[0]?.sf__Error ?? '', /^INVALID_EMAIL_ADDRESS:.*:Email --$/)
  const again = await job('upsert', [{ Customer_Key__c: 'K1', LastName: 'Zoë', Email: '#N/A' }])
  assert.equal(again.successfulResults[0]?.sf__Created, 'false')
  assert.deepEqual(
    server.records.map(({ LastName, Email }) => [LastName, Email]),
    [['Zoë', undefined]],
  )
})

// The client ends its stream after the first page of results, so there is one.
test('reads contacts by a query job, deleted ones too, and deletes them', async () => {
  for (let number = 0; number < 5; number++) await job('insert', [{ LastName: `n${number}` }])
  const soql = 'SELECT Id, LastName FROM Contact WHERE SystemModstamp >= 2020-01-01T00:00:00Z'
  const rows = await (await client.bulk2.query(soql)).toArray()
  assert.deepEqual(rows.map(({ LastName }) => LastName).sort(), ['Zoë', 'n0', 'n1', 'n2', 'n3', 'n4'])
  const [first] = rows
  await job('delete', [{ Id: first?.Id }])
  assert.equal((await (await client.bulk2.query(soql)).toArray()).length, 5)
  assert.equal((await (await client.bulk2.query(soql, { scanAll: true })).toArray()).length, 6)
  await assert.rejects(client.bulk2.query('SELECT Nothing FROM Contact'))
})
