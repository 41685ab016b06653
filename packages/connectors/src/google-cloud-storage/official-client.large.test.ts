import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Storage } from '@google-cloud/storage'
import { testContext } from '@penstock/connector/acceptance'
import { startGcsServer } from '../../test/gcs-server.ts'
import { googleCredentials } from '../../test/google-client.ts'
import { someRows } from '../../test/object-store-server.ts'
import { write } from './files.ts'

/** Google's own client makes the calls of the connectors, and reads what the destination wrote. */

const server = await startGcsServer(['people'])
after(() => server.close())
const url = server.proxy.url
const storage = new Storage({
  projectId: 'example-project',
  authClient: googleCredentials(url, server, 'devstorage.read_write'),
  apiEndpoint: url,
  useAuthWithCustomEndpoint: true,
  retryOptions: { autoRetry: false },
})
const people = storage.bucket('people')
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => assert.fail('not refused'),
    ({ code, errors }) => ({ code, reason: errors?.[0]?.reason }),
  )

test('lists objects and folders, page after page', async () => {
  server.pageSize = 2
  for (const name of ['1 ü', '2', '3']) server.put('people', `list/${name}.csv`, 'id\n')
  for (const name of ['4', '5']) server.put('people', `list/old/${name}.csv`, 'id\n')
  const [all] = await people.getFiles({ prefix: 'list/' })
  assert.deepEqual(
    all.map(({ name }) => name),
    ['list/1 ü.csv', 'list/2.csv', 'list/3.csv', 'list/old/4.csv', 'list/old/5.csv'],
  )
  const asked = { prefix: 'list/', delimiter: '/', autoPaginate: false }
  const [first, next] = await people.getFiles(asked)
  const [second, end, answer] = await people.getFiles({ ...asked, ...next })
  assert.deepEqual(
    [...first, ...second].map(({ name }) => name),
    ['list/1 ü.csv', 'list/2.csv', 'list/3.csv'],
  )
  assert.deepEqual((answer as { prefixes?: string[] }).prefixes, ['list/old/'])
  assert.equal(end, null)
  server.pageSize = 1000
  assert.deepEqual(await refusalOf(storage.bucket('absent').getFiles()), { code: 404, reason: 'notFound' })
})

test('describes an object, and reads it from any byte', async () => {
  server.put('people', 'one.csv', 'id\n1\n')
  const file = people.file('one.csv')
  const [{ size, generation = '' }] = await file.getMetadata()
  assert.equal(size, '5')
  assert.equal(String((await file.download())[0]), 'id\n1\n')
  assert.equal(String((await file.download({ start: 3 }))[0]), '1\n')
  server.put('people', 'one.csv', 'id\n2\n')
  assert.deepEqual(await refusalOf(file.getMetadata({ ifGenerationMatch: generation })), {
    code: 412,
    reason: 'conditionNotMet',
  })
  assert.deepEqual(await people.file('absent.csv').exists(), [false])
})

test('puts objects together, and removes them', async () => {
  for (const part of ['a', 'b']) server.put('people', `parts/${part}`, `${part}\n`)
  const [whole] = await people.combine(['parts/a', 'parts/b'], 'parts/whole.txt')
  assert.equal(String((await whole.download())[0]), 'a\nb\n')
  await whole.delete()
  assert.deepEqual(await whole.exists(), [false])
  assert.deepEqual(await refusalOf(people.combine(['parts/a', 'parts/absent'], 'parts/whole.txt')), {
    code: 404,
    reason: 'notFound',
  })
})

test('names the permissions of an account', async () => {
  const [permissions] = await people.iam.testPermissions(['storage.objects.list', 'storage.buckets.delete'])
  assert.deepEqual(permissions, { 'storage.objects.list': true, 'storage.buckets.delete': false })
})

test('reads the file that the destination wrote', async () => {
  const { columns, rows } = someRows(500)
  const settings = { outputPath: 'gs://people/out/', fileFormat: 'CSV' }
  const secrets = { jsonKey: server.jsonKey }
  const writer = await write(testContext({ secrets, routes: server.routes, settings, columns }))
  await writer.deliver({ key: '0', columns, rows, firstRow: 1 })
  await writer.flush?.()
  await writer.finish?.()
  const [[file, ...others]] = await people.getFiles({ prefix: 'out/' })
  assert.deepEqual(others, [])
  const [content = ''] = (await file?.download())?.map(String) ?? []
  assert.ok(content.includes('person499@example.com'))
  assert.equal(file?.metadata.contentType, 'text/csv; charset=utf-8')
})
