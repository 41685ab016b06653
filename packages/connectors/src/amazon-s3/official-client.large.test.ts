import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import * as s3 from '@aws-sdk/client-s3'
import { testContext } from '@penstock/connector/acceptance'
import { someRows } from '../../test/object-store-server.ts'
import { startS3TestServer } from '../../test/s3-server.ts'
import { write } from './files.ts'

/** AWS's own client makes the calls of the connectors: the test server accepts its signatures and checksums. */

const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const session = { id: 'ASIAEXAMPLE', secret: 'AnotherSecretOfAws', token: 'session//token+of=aws' }
const server = await startS3TestServer(['people'], [key, session])
const clients: s3.S3Client[] = []
after(async () => {
  for (const client of clients) client.destroy()
  await server.close()
})
function clientOf(credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }): s3.S3Client {
  const endpoint = server.proxy.url
  const client = new s3.S3Client({
    endpoint,
    region: 'eu-central-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials,
  })
  clients.push(client)
  return client
}
const client = clientOf({ accessKeyId: key.id, secretAccessKey: key.secret })
const Bucket = 'people'
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => assert.fail('not refused'),
    ({ name, $metadata }) => [$metadata.httpStatusCode, name],
  )
const read = async (Key: string, Range?: string) =>
  (await client.send(new s3.GetObjectCommand({ Bucket, Key, Range }))).Body?.transformToString()

test('writes, lists, reads and removes objects', async () => {
  const names = ['list/d.csv', 'list/old/e.csv', 'list/ä b+c.csv']
  for (const Key of names) await client.send(new s3.PutObjectCommand({ Bucket, Key, Body: 'id\n1\n' }))
  const list = { Bucket, Prefix: 'list/' }
  const { Contents = [] } = await client.send(new s3.ListObjectsV2Command(list))
  assert.deepEqual(Contents.map(({ Key }) => Key).sort(), names)
  const folders = await client.send(new s3.ListObjectsV2Command({ ...list, Delimiter: '/' }))
  assert.deepEqual(folders.CommonPrefixes, [{ Prefix: 'list/old/' }])
  assert.equal(await read('list/ä b+c.csv', 'bytes=3-'), '1\n')
  await client.send(new s3.DeleteObjectCommand({ Bucket, Key: 'list/d.csv' }))
  assert.deepEqual(await refusalOf(read('list/d.csv')), [404, 'NoSuchKey'])
})

test('writes an object in parts', async () => {
  const whole = { Bucket, Key: 'parts.csv' }
  const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand(whole))
  const { Uploads = [] } = await client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: 'parts' }))
  assert.deepEqual(
    Uploads.map(({ Key }) => Key),
    ['parts.csv'],
  )
  const part = { ...whole, UploadId, PartNumber: 1 }
  const { ETag } = await client.send(new s3.UploadPartCommand({ ...part, Body: 'id\n1\n' }))
  const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
  await client.send(new s3.CompleteMultipartUploadCommand({ ...whole, UploadId, MultipartUpload }))
  assert.equal(await read('parts.csv'), 'id\n1\n')
  assert.equal(server.uploads(), 0)
})

test('signs with a key, or with the key and the token of a session', async () => {
  const list = new s3.ListObjectsV2Command({ Bucket })
  const ofSession = { accessKeyId: session.id, secretAccessKey: session.secret }
  await clientOf({ ...ofSession, sessionToken: session.token }).send(list)
  assert.deepEqual(await refusalOf(clientOf(ofSession).send(list)), [400, 'InvalidToken'])
  const wrong = clientOf({ accessKeyId: key.id, secretAccessKey: 'another secret' })
  assert.deepEqual(await refusalOf(wrong.send(list)), [403, 'SignatureDoesNotMatch'])
  const unknown = clientOf({ accessKeyId: 'AKIDUNKNOWN', secretAccessKey: key.secret })
  assert.deepEqual(await refusalOf(unknown.send(list)), [403, 'InvalidAccessKeyId'])
})

test('reads the file that the destination wrote', async () => {
  const { columns, rows } = someRows(500)
  const settings = { outputPath: 's3://people/out/', fileFormat: 'CSV' }
  const writer = await write(testContext({ secrets: server.secrets, settings, columns }))
  await writer.deliver({ key: '0', columns, rows, firstRow: 1 })
  await writer.flush?.()
  await writer.finish?.()
  const { Contents = [] } = await client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: 'out/' }))
  assert.equal(Contents.length, 1)
  assert.ok((await read(Contents[0]?.Key ?? ''))?.includes('person499@example.com'))
})
