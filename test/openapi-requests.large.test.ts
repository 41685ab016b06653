import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { basePath, type Operation, type OperationId, operations } from '@penstock/wire'
import { openApiDocument } from '@penstock/wire/openapi'
import { type Inbox, makeInbox } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import fc from './harness/property.ts'
import { exchange, requestBytes } from './harness/raw-http.ts'
import { draftOf, makeScene, type Scene } from './harness/scenes.ts'
import { type JsonSchema, valuesOf } from './harness/schema-values.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'
import { type Draft, writeJson } from './harness/spoilings.ts'
import { type WatchedRows, watchRows } from './harness/watched-rows.ts'

/**
 * The OpenAPI document is as strict as the service: a request with any value that the document allows is not refused as
 * `invalid_request`. The exceptions, which no schema can express, are listed below.
 */

const operationIds = Object.keys(operations) as OperationId[]
/** Values of each property and query parameter. */
const runs = Number(process.env.PENSTOCK_TEST_SCHEMA_VALUES ?? 4)
/** Parts of requests that name resources. Most values name no existing one. */
const identifier = '[0-9a-f]{16}'

/** A refusal that no schema can express. */
type Beyond = {
  readonly operations: readonly OperationId[]
  readonly field: RegExp
  readonly why: string
  /** The values that the rule applies to. */
  readonly values?: (value: unknown) => boolean
}
const isAddress = (value: unknown) => URL.canParse(String(value)) && new URL(String(value)).protocol === 'https:'
const beyondSchemas: readonly Beyond[] = [
  {
    operations: [
      'createConnectorConfiguration',
      'configureConnector',
      'askSource',
      'tryDestination',
      'createConnection',
      'updateConnection',
    ],
    field: /^body\.\w+Config\./,
    why: 'the definition of the connector says which fields and values there are',
  },
  {
    operations: ['listAudit'],
    field: /^query\.q$/,
    why: 'an index of three characters in a row, which may be letters and digits of any script',
    values: (value) => !/[\p{L}\p{N}]{3}/u.test(String(value)),
  },
  {
    operations: ['createMappingTemplate', 'updateMappingTemplate'],
    field: /^body\.mapping/,
    why: 'a text of JSON, with the fields of a destination',
  },
  {
    operations: ['createWebhook', 'updateWebhook', 'createAlertRule', 'updateAlertRule', 'setSingleSignOn'],
    field: /^body\.(?:url|slackUrl|teamsUrl|issuer)$/,
    why: 'the standard of addresses refuses some hosts, and the operator allows http for others',
    values: (value) => !isAddress(value),
  },
  {
    operations: ['eraseAtDestination'],
    field: /^body\.identifiers\.\d+\.kind$/,
    why: 'each platform accepts other kinds of identifiers',
  },
  {
    operations: ['createConnectLink', 'setBranding'],
    field: /^body\.(?:redirectUrl|allowedOrigins\.\d+)$/,
    why: 'the standard of addresses refuses some hosts',
    values: (value) => [value].flat().some((one) => !isAddress(one)),
  },
  {
    operations: ['createMappingTemplate', 'setSingleSignOn'],
    field: /^body\.(?:destConnectorId|mapping|clientSecret)$/,
    why: 'it can be left out if a connection is named, or if a secret is saved',
  },
  { operations: ['setDrift'], field: /^body\.tables\.\d+$/, why: 'a table whose changed columns wait to be accepted' },
  {
    operations: ['startTransfer', 'setConnectionTables', 'resetConnectionState'],
    field: /^body\.tables(?:\.\d+)?$/,
    why: 'the tables that a connection moves, and which parts of a state belong to one table',
  },
  { operations: ['setBranding'], field: /^body\.logo$/, why: 'the bytes of a picture' },
  { operations: ['setBranding'], field: /^body\.colours\.text$/, why: 'the contrast of two colours' },
  {
    operations: ['setSchedule'],
    field: /^body\.(?:cron|timezone)$/,
    why: 'the grammar of cron, and the list of time zones',
  },
  {
    operations: ['reportAccounts', 'reportConnections', 'reportAudiences'],
    field: /^query\.(?:startDate|endDate)$/,
    why: 'the number of days of a month, and the order of two days',
  },
  {
    operations: ['startTransfer'],
    field: /^body\.backfill\.(?:from|to)$/,
    why: 'the order of two days or times, their form, and how many days there are between them',
  },
  {
    operations: ['editRejects'],
    field: /^body\.edits\.\d+(?:\.\w+)*$/,
    why: 'which records are kept, each once, and their columns',
  },
  {
    operations: ['createClient', 'muteAlertRule'],
    field: /^body\.(?:expiresTime|until)$/,
    why: 'it is compared with the present time',
  },
  {
    operations: ['setConnectionLabels', 'acceptInvitation'],
    field: /^body\.(?:ownerEmail|email)$/,
    why: 'it names a person',
  },
  {
    operations: ['createAlertRule', 'updateAlertRule'],
    field: /^body\.conditions$/,
    why: 'a condition that is false or null is none',
  },
  { operations: ['inviteUser', 'updateUser'], field: /^body\.accountIds$/, why: 'an owner has none' },
  {
    operations: ['setPurposes'],
    field: /^body\.purposes/,
    why: 'which keys a kind has, names with commas, and names that occur twice',
  },
  {
    operations: ['setRunConditions', 'setTransferGroups'],
    field: /^body\.(?:runAfter\.\d+|group|groups(?:\.\d+\.name)?)$/,
    why: 'which connections and groups there are, and loops',
  },
  {
    operations: ['setConnectionRules'],
    field: /^body\.(?:rules\.\d+(?:\.\w+)?|blackout\.timezone)$/,
    why: 'which parts each check takes and needs, the order of two numbers, and the list of time zones',
  },
]

let service: TestService
let organization: Organization
let port: number
let inbox: Inbox
let scene: Scene
let rows: WatchedRows
before(async () => {
  inbox = await makeInbox()
  service = await startTestService({
    ...inbox.env,
    PENSTOCK_PUBLIC_URL: 'http://127.0.0.1:8080',
    PENSTOCK_LOG_LEVEL: 'warn',
    PENSTOCK_TRUSTED_PROXIES: '127.0.0.1',
  })
  organization = await service.addOrganization()
  await service.service.app.listen({ port: 0, host: '127.0.0.1' })
  scene = await makeScene(service, callerOf(service, organization), inbox.folder)
  rows = await watchRows(service.database.pool)
  port = (service.service.app.server.address() as AddressInfo).port
})
after(async () => {
  await service.close()
  await inbox.remove()
})

const document = openApiDocument('https://penstock.example.com')
function resolve(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(resolve)
  if (typeof node !== 'object' || node === null) return node
  const { $ref, ...rest } = node as Record<string, unknown>
  const inside = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, resolve(value)]))
  if (typeof $ref !== 'string') return inside
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document)
  return { ...(resolve(target) as object), ...inside }
}
type Described = {
  parameters?: { name: string; in: string; required: boolean; schema: JsonSchema }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
}
const describedOf = ({ method, path }: Operation) =>
  resolve(
    (document.paths as Record<string, Record<string, Described>>)[basePath + path]?.[method.toLowerCase()],
  ) as Described

async function send({ method, path, query, headers, json, bytes }: Draft) {
  const body = bytes ?? (json === undefined ? undefined : Buffer.from(writeJson(json)))
  const parameters = query.map(([name, value]) => `${name}=${value}`).join('&')
  const length = body === undefined ? [] : [['content-length', String(body.length)] as const]
  const target = `${basePath}${path}${parameters === '' ? '' : `?${parameters}`}`
  const reply = await exchange(port, requestBytes({ method, target, headers: [...headers, ...length], body }))
  const changed = await rows.changed()
  if (changed.length > 0) await rows.restore(changed)
  return reply
}

/** Sends the request of a scene with one value replaced. Returns the fields that are refused as invalid. */
async function refusedWith(
  id: OperationId,
  put: (draft: Draft) => void,
): Promise<{ field: string; message: string }[]> {
  const draft = draftOf(id, scene, organization)
  put(draft)
  const { status, text } = await send(draft)
  assert(status < 500, text)
  const { error, details } = status === 400 ? JSON.parse(text).response : { error: undefined, details: [] }
  return error === 'invalid_request' ? details : []
}

describe('a value that the document allows is not refused as invalid', () => {
  for (const id of operationIds) {
    const { parameters = [], requestBody } = describedOf(operations[id])
    const queries = parameters.filter(({ in: place, name }) => place === 'query' && name !== 'accountId')
    const properties = Object.entries(requestBody?.content['application/json']?.schema.properties ?? {})
    if (properties.length + queries.length === 0) continue
    test(id, async () => {
      const failures: string[] = []
      const tryValues = async (schema: JsonSchema, put: (draft: Draft, value: unknown) => void) => {
        if (JSON.stringify(schema).includes(identifier) || schema.pattern?.includes('(?!')) return
        for (const value of fc.sample(valuesOf(schema), runs))
          for (const { field, message } of await refusedWith(id, (draft) => put(draft, value))) {
            const allowed = beyondSchemas.find(
              (one) => one.operations.includes(id) && one.field.test(field) && (one.values?.(value) ?? true),
            )
            if (!allowed) failures.push(`${field} ${message}, with ${JSON.stringify(value)?.slice(0, 200)}`)
          }
      }
      for (const [name, schema] of properties)
        await tryValues(schema, (draft, value) => {
          draft.json = { ...(draft.json as object), [name]: value }
        })
      for (const { name, schema } of queries)
        await tryValues(schema, (draft, value) => {
          const others = draft.query.filter(([one]) => one !== name)
          draft.query = [...others, [name, encodeURIComponent(String(value))]]
        })
      assert.deepEqual(failures, [])
    })
  }
})

describe('a request without what the document requires is refused', () => {
  for (const id of operationIds) {
    const { parameters = [], requestBody } = describedOf(operations[id])
    const required = requestBody?.content['application/json']?.schema.required ?? []
    const accountId = parameters.find(({ name }) => name === 'accountId')
    if (required.length === 0 && !accountId?.required) continue
    test(id, async () => {
      for (const name of required) {
        const refused = await refusedWith(id, (draft) => {
          const { [name]: _, ...rest } = draft.json as Record<string, unknown>
          draft.json = rest
        })
        assert(
          refused.some(({ field }) => field === `body.${name}`),
          `${name} can be left out`,
        )
      }
      if (!accountId?.required) return
      const draft = draftOf(id, scene, organization)
      draft.query = draft.query.filter(([name]) => name !== 'accountId')
      assert.match((await send(draft)).text, /account_required/)
    })
  }
})

describe('a request without what the document does not require is not refused as invalid', () => {
  for (const id of operationIds) {
    const { requestBody } = describedOf(operations[id])
    const { properties = {}, required = [], minProperties = 0 } = requestBody?.content['application/json']?.schema ?? {}
    const optional = Object.keys(properties).filter((name) => !required.includes(name))
    if (optional.length <= minProperties) continue
    test(id, async () => {
      const failures: string[] = []
      for (const name of optional) {
        const refused = await refusedWith(id, (draft) => {
          const { [name]: _, ...rest } = draft.json as Record<string, unknown>
          if (Object.keys(rest).length >= minProperties) draft.json = rest
        })
        for (const { field, message } of refused)
          if (!beyondSchemas.some((one) => one.operations.includes(id) && one.field.test(field)))
            failures.push(`without ${name}: ${field} ${message}`)
      }
      assert.deepEqual(failures, [])
    })
  }
})
