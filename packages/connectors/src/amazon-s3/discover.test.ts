import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Asked, discover, valuesOf } from '../../test/discover.ts'
import { startS3TestServer } from '../../test/s3-server.ts'
import { amazonS3Destination } from './amazon-s3-destination.ts'
import { amazonS3Source } from './amazon-s3-source.ts'

const s3 = await startS3TestServer(
  ['people'],
  [{ id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }],
)
after(() => s3.close())
for (const name of ['daily/1.csv', 'daily/ä b.csv', 'daily/deeper/3.csv', 'top.csv'])
  await s3.put('people', name, 'id\n1\n')

const find = (asked: Asked) => discover(amazonS3Source, s3.secrets, 'bucketUri', asked)

test('a bucket lists folders and objects, by the address that is searched for or set', async () => {
  assert.deepEqual((await find({ search: 's3://people' })).items, [
    { value: 's3://people/daily/', kind: 'folder' },
    { value: 's3://people/top.csv', kind: 'file' },
  ])
  const daily = ['s3://people/daily/deeper/', 's3://people/daily/1.csv', 's3://people/daily/ä b.csv']
  assert.deepEqual(valuesOf(await find({ settings: { bucketUri: 's3://people/daily/' } })), daily)
  const written = { role: 'destination', search: 's3://people/da' } as const
  assert.deepEqual(valuesOf(await discover(amazonS3Destination, s3.secrets, 'outputPath', written)), [
    's3://people/daily/',
  ])
})

test('a bucket is listed page by page', async () => {
  for (const name of ['1', '2', '3']) await s3.put('people', `many/${name}.csv`, 'id\n1\n')
  const all: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await find({ search: 's3://people/many/', size: 1, ...(cursor === undefined ? {} : { cursor }) })
    all.push(...valuesOf(page))
    cursor = page.next
    if (cursor === undefined) break
  }
  assert.equal(new Set(all).size, 3)
})

test('an address that is none, and a bucket that is missing, are refused', async () => {
  await assert.rejects(find({}), { code: 'invalid_address' })
  await assert.rejects(find({ search: 's3://nowhere-at-all/' }), { code: 'bucket_not_found' })
})

test('the columns of the files of a folder are listed, with values only for callers that may read records', async () => {
  const settings = { bucketUri: 's3://people/daily/', format: 'CSV' }
  const of = (asked: Asked) => discover(amazonS3Source, s3.secrets, 'columns', { settings, ...asked })
  assert.deepEqual((await of({})).items, [{ value: 'id', kind: 'column', type: 'text' }])
  assert.deepEqual((await of({ withSamples: true })).items, [
    { value: 'id', kind: 'column', type: 'text', samples: ['1'] },
  ])
  await assert.rejects(of({ settings: { bucketUri: 's3://people/nothing/' } }), { code: 'object_not_found' })
  await assert.rejects(of({ cursor: 'x' }), { code: 'invalid_setting' })
})
