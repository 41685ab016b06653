import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { loadConnector } from '../load.ts'

/** Lists that are read by hand, with answers that name a next page which cannot be used, and the setting that each fills. */
const s3 = { authType: 'keys', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', region: 'eu-central-1' }
const app = { clientId: 'app', clientSecret: 'secret', refreshToken: 'token' }
const databricks = { host: 'dbc-1.cloud.databricks.com', authType: 'access-token', accessToken: 'token' }
const hubspot = { authType: 'token', accessToken: 'token' }
const listing = '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'
type Case = readonly [slug: string, setting: string, secrets: Values, search: string, bodies: readonly unknown[]]
const cases: readonly Case[] = [
  ['amazon-s3-source', 'bucketUri', s3, 's3://people/', [listing]],
  ['dropbox', 'path', app, '/', [undefined, '', 7].map((cursor) => ({ entries: [], has_more: true, cursor }))],
  ['databricks-source', 'catalog', databricks, '', [7, {}, true].map((token) => ({ next_page_token: token }))],
  ['hubspot-crm', 'listId', hubspot, '', [0, -1, 1.5].map((offset) => ({ lists: [], hasMore: true, offset }))],
]

test('a list with a next page that cannot be used is an error, and not a shorter list', async () => {
  for (const [slug, setting, secrets, search, bodies] of cases) {
    const { source, destination } = await loadConnector(slug)
    const find = source?.discover?.[setting] ?? destination?.discover?.[setting]
    assert.ok(find, `${slug} ${setting}`)
    for (const body of bodies) {
      const egress = {
        async request(url: string | URL): Promise<Response> {
          if (/token/.test(new URL(url).pathname)) return Response.json({ access_token: 't', expires_in: 3600 })
          return typeof body === 'string' ? new Response(body) : Response.json(body)
        },
        connect: () => Promise.reject(new Error('connects')),
      }
      const context = { ...testContext({ secrets, egress }), search, cursor: undefined, size: 50, withSamples: false }
      await assert.rejects(find(context), { code: 'malformed_response' }, `${slug} ${JSON.stringify(body)}`)
    }
  }
})
