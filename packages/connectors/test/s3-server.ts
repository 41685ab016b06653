import type { Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { buildApp } from 'fauxqs'
import { makeS3Client, type S3Client } from '../src/amazon-s3/s3-client.ts'
import { s3Objects } from '../src/amazon-s3/s3-objects.ts'
import { type FailingProxy, startFailingProxy } from './failing-proxy.ts'
import { judgeS3, type S3Key } from './s3-signature.ts'

/** An S3 server from npm, with rules that it lacks: signatures and keys are verified before it gets a request. */
export type S3TestServer = {
  readonly proxy: FailingProxy
  readonly secrets: Values
  readonly client: S3Client
  /** Where fauxqs itself listens. */
  readonly address: string
  put(bucket: string, key: string, body: Uint8Array | string): Promise<void>
  read(bucket: string, key: string): Promise<Buffer>
  /** The names of objects right under a prefix. */
  names(bucket: string, prefix: string): Promise<string[]>
  empty(bucket: string, prefix: string): Promise<void>
  /** Uploads that were begun and neither completed nor ended. */
  uploads(): number
  close(): Promise<void>
}

export const testServerName = 'fauxqs behind a proxy that verifies signatures'

/** @param keys the first one is that of `secrets` */
export async function startS3TestServer(
  buckets: readonly string[],
  keys: readonly [S3Key, ...S3Key[]],
  now?: () => number,
): Promise<S3TestServer> {
  // Started by hand, since its own start listens on every address of the machine.
  const fauxqs = buildApp({ logger: false })
  const uploads = listUploads(fauxqs)
  const address = await fauxqs.listen({ port: 0, host: '127.0.0.1' })
  const proxy = await startFailingProxy(address, judgeS3(keys, now))
  const secrets = { accessKeyId: keys[0].id, secretAccessKey: keys[0].secret, endpoint: proxy.url }
  const client = makeS3Client(testContext({ secrets: { ...secrets, endpoint: address } }))
  const permission = 's3:*'
  for (const bucket of buckets) await client.request({ method: 'PUT', bucket, permission })
  const testServer: S3TestServer = {
    proxy,
    secrets,
    client,
    address,
    async put(bucket, key, body) {
      await client.request({ method: 'PUT', bucket, key, body, permission })
    },
    async read(bucket, key) {
      return Buffer.from(await (await client.request({ bucket, key, permission })).arrayBuffer())
    },
    async names(bucket, prefix) {
      const names: string[] = []
      for await (const { name } of s3Objects(client, bucket).list(prefix)) names.push(name)
      return names
    },
    async empty(bucket, prefix) {
      for (const key of await testServer.names(bucket, prefix)) {
        await client.request({ method: 'DELETE', bucket, key, permission })
      }
    },
    uploads: () => uploads.size,
    async close() {
      await proxy.close()
      await fauxqs.close()
    },
  }
  return testServer
}

/** Adds what fauxqs lacks: the list of uploads that are active, by their identifiers. */
function listUploads(fauxqs: ReturnType<typeof buildApp>): ReadonlyMap<string, string> {
  const uploads = new Map<string, string>()
  const pathOf = (url = '') => decodeURIComponent(url.replace(/\?.*/s, ''))
  fauxqs.addHook('onRequest', async ({ method, raw, query }, reply) => {
    const { prefix = '', uploads: asked } = query as { prefix?: string; uploads?: string }
    if (method !== 'GET' || asked === undefined) return
    const bucket = pathOf(raw.url)
    const found = [...uploads].filter(([, path]) => path.startsWith(bucket + prefix))
    const entries = found.map(
      ([id, path]) => `<Upload><Key>${path.slice(bucket.length)}</Key><UploadId>${id}</UploadId></Upload>`,
    )
    const list = `<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`
    return reply.type('application/xml').send(list)
  })
  fauxqs.addHook('onSend', async ({ method, raw, query }, reply, payload) => {
    const { uploadId } = query as { uploadId?: string }
    const [, begun] = /<UploadId>([^<]+)</.exec(String(payload)) ?? []
    if (method === 'POST' && begun !== undefined) uploads.set(begun, pathOf(raw.url))
    if (method !== 'PUT' && uploadId !== undefined && reply.statusCode < 300) uploads.delete(uploadId)
  })
  return uploads
}
