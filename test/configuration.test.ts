import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Connector, FieldDefinition } from '@penstock/connector'
import { listedConnectors } from '@penstock/connectors'
import type { BodyOf } from '@penstock/wire'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { contentOf } from './harness/content.ts'
import { type Caller, callerOf, connectorBySlug, destination, destinationSecrets, source } from './harness/fixtures.ts'
import { badNames, goodNames } from './harness/names.ts'
import { startTestService, type TestService } from './harness/service.ts'

/** The configuration of a connector, its secrets above all (specification, section 2.6). */

const mask = '********'
const sftp = connectorBySlug('sftp-destination')
let service: TestService
let caller: Caller
before(async () => {
  service = await startTestService()
  caller = callerOf(service, await service.addOrganization())
})
after(async () => {
  const leak = service.logLines.find((line) => line.includes('canary'))
  await service.close()
  assert.equal(leak, undefined, 'a secret is in the log')
})

/** A secret that a field accepts, in the form that it requires. */
const secretFor = (field: FieldDefinition | undefined, name: string): string =>
  field?.form ? `whsec_${Buffer.from(`canary-${name}`.padEnd(32)).toString('base64')}` : `canary-${name}`

type Values = BodyOf<'configureConnector'>['secretConfig']

/** A connector, added to a separate account. */
async function added(connector: Connector = destination) {
  const { id: accountId } = await caller.addAccount()
  await caller.addConnectors(accountId, connector)
  const where = { accountId, id: connector.id }
  const save = (secretConfig: Values, more: Partial<BodyOf<'configureConnector'>> = {}) =>
    caller.call('configureConnector', { ...where, body: { secretConfig, ...more } })
  const read = () => caller.expect(caller.call('getConnectorConfiguration', where))
  const fields = async () => (await read()).secretConfig[0]?.configuration ?? []
  return {
    accountId,
    save,
    read,
    fields,
    /** The form as a person sees it: every field by its name. */
    values: async () => Object.fromEntries((await fields()).map(({ name, value }) => [name, value])),
    /** Secrets in the context of the connector. */
    secrets: async () => {
      const owner = await firstConfiguration(service.database, { accountId, connectorId: connector.id })
      return openSecrets(service.database, service.service.deps.keyring, owner)
    },
  }
}

const fieldsOf = ({ details }: { details: { field: string }[] }) =>
  details.map(({ field }) => field.replace('body.secretConfig.', '')).sort()

/** Fails unless the save was refused for exactly these fields, and changed nothing. */
async function refusedFor(save: () => ReturnType<Awaited<ReturnType<typeof added>>['save']>, fields: string[]) {
  const content = await contentOf(service)
  const reply = await save()
  assert.deepEqual([reply.status, reply.error, fieldsOf(reply)], [400, 'invalid_request', fields.sort()])
  assert.equal(await contentOf(service), content)
  assert(!reply.text.includes('canary'), 'a refusal repeats a secret')
  return reply
}

describe('a configuration', () => {
  test('is empty at first, with the defaults that count', async () => {
    const { read, values, accountId } = await added(sftp)
    const { secretConfig, connectionConfig, ...top } = await read()
    const secretName = `sftp-destination/${accountId}`
    assert.deepEqual(top, { editable: true, env: 'production', configured: false, lastUpdated: 0, secretName })
    assert.deepEqual([secretConfig.length, connectionConfig.length], [1, 1])
    const empty = {
      hostname: '',
      port: '22',
      username: '',
      authentication: 'private key',
      sshPrivateKey: '',
      passphrase: '',
      password: '',
      hostKeyFingerprint: '',
      hashKey: '',
      hostKeyCheck: 'fingerprint',
      connectThrough: 'direct',
      bastionHost: '',
      bastionPort: '22',
      bastionHostKey: '',
      bastionUser: '',
      bastionAuthentication: 'private key',
      bastionPrivateKey: '',
      bastionPassphrase: '',
      bastionPassword: '',
      proxyAddress: '',
      proxyUser: '',
      proxyPassword: '',
    }
    assert.deepEqual(await values(), empty)
    assert.deepEqual(
      connectionConfig[0]?.configuration.map(({ name, type, required, value }) => [name, type, required, value]),
      [
        ['path', 'Text', true, ''],
        ['fileFormat', 'Select', false, 'CSV'],
        ['gzip', 'Boolean', false, 'false'],
        ['columnTypes', 'Boolean', false, 'true'],
        ['binaryForm', 'Select', false, 'Hexadecimal'],
        ['severalFiles', 'Boolean', false, 'false'],
        ['mapping', 'Text', false, ''],
        ['filter', 'Text', false, ''],
        ['purposes', 'Text', false, ''],
        ['controlGroup', 'Select', false, ''],
        ['controlKey', 'Text', false, ''],
        ['controlPercent', 'Number', false, ''],
        ['controlSalt', 'Text', false, ''],
        ['sendRows', 'Select', false, ''],
        ['rowKey', 'Text', false, ''],
        ['duplicates', 'Select', false, ''],
        ['duplicateKey', 'Text', false, ''],
        ['duplicateColumn', 'Text', false, ''],
        ['outcomes', 'Text', false, ''],
        ['outcomeColumns', 'Text', false, ''],
        ['outcomeRows', 'Select', false, ''],
      ],
    )
    const [, port] = secretConfig[0]?.configuration ?? []
    assert.deepEqual(
      [port?.type, port?.min, port?.max, port?.required, port?.readonly],
      ['Number', 1, 65_535, true, false],
    )
  })

  test('is saved, and shows every value but the secrets', async () => {
    const { save, read, values, secrets } = await added()
    const beforeSeconds = Math.floor(Date.now() / 1000)
    const saved = await caller.expect(save(destinationSecrets, { name: ' Mine ', secretName: ' mine/secret ' }))
    assert.deepEqual([saved.name, saved.secretName, saved.configured], ['Mine', 'mine/secret', true])
    assert(saved.lastUpdated >= beforeSeconds - 5 && saved.lastUpdated <= Date.now() / 1000 + 5)
    const now = await read()
    const { configuration: _, ...group } = now.secretConfig[0] ?? { configuration: [] }
    assert.deepEqual(group, saved)
    assert.deepEqual([now.configured, now.lastUpdated, now.secretName], [true, saved.lastUpdated, 'mine/secret'])
    const shown = await values()
    assert.deepEqual([shown.authType, shown.username, shown.password, shown.privateKey], ['basic', 'loader', mask, ''])
    assert.deepEqual(await secrets(), { password: destinationSecrets.password })
  })

  test('that is read, edited and saved keeps its secrets', async () => {
    const { save, values, secrets } = await added()
    await caller.expect(save(destinationSecrets))
    const form = await values()
    await caller.expect(save({ ...form, username: 'other' }))
    assert.deepEqual(await values(), { ...form, username: 'other' })
    assert.deepEqual(await secrets(), { password: destinationSecrets.password })
  })

  test('keeps what is left out, and replaces what is given', async () => {
    const { save, values, secrets } = await added()
    await caller.expect(save(destinationSecrets))
    await caller.expect(save({ password: 'canary-2' }))
    assert.deepEqual([(await values()).username, await secrets()], ['loader', { password: 'canary-2' }])
    await caller.expect(save({}))
    assert.deepEqual(await secrets(), { password: 'canary-2' })
  })

  const keyPair = {
    authType: 'key-pair',
    privateKey: '-----BEGIN canary-----\n  ünïcode 😀\n-----END-----\n',
    snowflakeAccount: 'a',
    snowflakeHost: 'h',
    snowflakeUser: 'u',
    snowflakeRole: 'r',
  }

  test('clears with null and with an empty text', async () => {
    for (const nothing of [null, '']) {
      const { save, values, secrets } = await added()
      await caller.expect(save({ ...destinationSecrets, ...keyPair }))
      await caller.expect(save({ username: nothing, password: nothing, snowflakeAccount: 'a' }))
      const { username, password, privateKey } = await values()
      assert.deepEqual([username, password, privateKey], ['', '', mask])
      assert.deepEqual(await secrets(), { privateKey: keyPair.privateKey })
      await refusedFor(() => save({ authType: nothing, privateKey: nothing, snowflakeHost: nothing }), ['authType'])
      await refusedFor(() => save({ privateKey: nothing, snowflakeHost: nothing }), ['privateKey', 'snowflakeHost'])
    }
  })

  test('requires what its conditions require, all of it at once', async () => {
    const { save, fields } = await added()
    const required = async () =>
      (await fields())
        .filter((field) => field.required)
        .map(({ name }) => name)
        .sort()
    assert.deepEqual(await required(), ['authType'])
    await refusedFor(() => save({}), ['authType'])
    await refusedFor(() => save({ authType: 'basic' }), ['password', 'username'])
    await caller.expect(save(destinationSecrets))
    assert.deepEqual(await required(), ['authType', 'password', 'username'])
    const { authType: _, ...missing } = keyPair
    await refusedFor(() => save({ authType: 'key-pair' }), Object.keys(missing))
    await caller.expect(save(keyPair))
    assert.deepEqual(await required(), Object.keys(keyPair).sort())
  })

  test('is refused with all its errors: unknown fields, wrong values, missing ones', async () => {
    const { save } = await added()
    await refusedFor(
      () => save({ authType: 'basic', password: true, unheardOf: 'x', warehouse: 'W', username: ['x'] }),
      ['password', 'unheardOf', 'username', 'warehouse'],
    )
    await refusedFor(() => save({ authType: 'Basic', privateKey: ' \n' }), ['authType', 'privateKey'])
    await refusedFor(() => save({ authType: 'basic', unheardOf: 1 }), ['password', 'unheardOf', 'username'])
    await refusedFor(() => save({ constructor: 'x', authType: 'basic', username: 'u', password: 'p' }), ['constructor'])
  })

  test('takes the mask only for a secret that is set', async () => {
    const { save, secrets } = await added()
    await refusedFor(() => save({ ...destinationSecrets, password: mask }), ['password'])
    await caller.expect(save(destinationSecrets))
    await refusedFor(() => save({ password: mask, privateKey: mask }), ['privateKey'])
    await caller.expect(save({ password: mask, username: mask }))
    assert.deepEqual(await secrets(), { password: destinationSecrets.password })
  })

  test('takes whole numbers within bounds, as numbers or in digits', async () => {
    const { save, values } = await added(sftp)
    const rest = { hostname: 'h', username: 'u', sshPrivateKey: 'canary' }
    await caller.expect(save(rest))
    assert.equal((await values()).port, '22')
    for (const [port, shown] of [
      [1, '1'],
      [65_535, '65535'],
      ['2222', '2222'],
    ] as const) {
      await caller.expect(save({ port, sshPrivateKey: 'canary' }))
      assert.equal((await values()).port, shown)
    }
    for (const port of [0, 65_536, -1, 22.5, '22.5', 'x', '0x16', ' 22', true, ['22']]) {
      await refusedFor(() => save({ port }), ['port'])
    }
    await caller.expect(save({ port: null, sshPrivateKey: 'canary' }))
    assert.equal((await values()).port, '22')
  })

  test('takes texts of up to 10 000 and secrets of up to 65 536 characters', async () => {
    const { save, secrets, values } = await added(source)
    const [accessKeyId, secretAccessKey] = ['t'.repeat(10_000), 's'.repeat(65_536)]
    await caller.expect(save({ accessKeyId, secretAccessKey }))
    assert.deepEqual([(await values()).accessKeyId, await secrets()], [accessKeyId, { secretAccessKey }])
    await refusedFor(() => save({ accessKeyId: `${accessKeyId}t` }), ['accessKeyId'])
    await refusedFor(() => save({ secretAccessKey: `${secretAccessKey}s` }), ['secretAccessKey'])
    const [text, secret] = ['😀'.repeat(10_000), '😀'.repeat(65_536)]
    await caller.expect(save({ accessKeyId: text, secretAccessKey: secret }))
  })

  test('and its secret have names like anything that people name', async () => {
    const { save } = await added()
    for (const key of ['name', 'secretName'] as const) {
      for (const { sent, kept, why } of goodNames) {
        assert.equal((await caller.expect(save(destinationSecrets, { [key]: sent })))[key], kept, why)
      }
      for (const { sent, why } of badNames) {
        const reply = await save(destinationSecrets, { [key]: sent } as never)
        assert.deepEqual([reply.status, reply.details.map(({ field }) => field)], [400, [`body.${key}`]], why)
      }
    }
  })

  test('is that of its own connector and account, by its identifier', async () => {
    const [mine, other] = [await added(), await added()]
    const idOf = async (one: typeof mine) => (await one.read()).secretConfig[0]?.configurationId ?? ''
    await caller.addConnectors(mine.accountId, source)
    const sourceGroup = await caller.expect(
      caller.call('getConnectorConfiguration', { accountId: mine.accountId, id: source.id }),
    )
    const content = await contentOf(service)
    for (const configurationId of [
      await idOf(other),
      sourceGroup.secretConfig[0]?.configurationId ?? '',
      '0'.repeat(16),
    ]) {
      const reply = await mine.save(destinationSecrets, { configurationId })
      assert.deepEqual([reply.status, reply.error, fieldsOf(reply)], [404, 'not_found', ['body.configurationId']])
    }
    assert.equal(await contentOf(service), content)
    const own = await idOf(mine)
    assert.equal((await caller.expect(mine.save(destinationSecrets, { configurationId: own }))).configurationId, own)
  })
})

describe('a stored secret', () => {
  /** A value that a field accepts, and another one. */
  const valuesOf = ({ type, options, min = 1, wrong }: FieldDefinition): [Values[string], Values[string]] => {
    if (type === 'Boolean') return [true, false]
    const pool = 'projects/123456789012/locations/global/workloadIdentityPools/example'
    const pairs = [
      ['192.0.2.7', '192.0.2.8'],
      ['https://one.example', 'https://two.example'],
      ['/id', '/key'],
      ['one.example', 'two.example'],
      ['streams: { a: { path: /a } }', 'streams: { b: { path: /b } }'],
      ['a=https://one.example', 'a=https://two.example'],
      ['email,password', 'user,key'],
      ['http://one.example', 'http://two.example'],
      ['arn:aws:iam::123456789012:role/One', 'arn:aws:iam::123456789012:role/Two'],
      [`${'1'.repeat(8)}-1111-1111-1111-${'1'.repeat(12)}`, `${'2'.repeat(8)}-1111-1111-1111-${'1'.repeat(12)}`],
      [`SHA256:${'a'.repeat(43)}`, `SHA256:${'b'.repeat(43)}`],
      [`${pool}/providers/first`, `${pool}/providers/second`],
      ['one@example.iam.gserviceaccount.com', 'two@example.iam.gserviceaccount.com'],
    ] as const
    const taken = wrong && pairs.find(([one]) => wrong(one) === undefined)
    if (taken) return [...taken]
    if (type === 'Select') return [options?.[0] ?? '', options?.[1] ?? '']
    return type === 'Number' ? [min, min + 1] : ['one.example', 'two.example']
  }
  const binding = listedConnectors.flatMap((connector) =>
    Object.entries(connector.secrets).flatMap(([key, field]) =>
      (field.binds ?? []).map((name) => ({ connector, key, field, name })),
    ),
  )

  test('is bound to its destination by every integrated connector that has one', () => {
    const bound = new Set(binding.map(({ connector }) => connector.slug))
    for (const slug of [
      'amazon-s3-destination',
      'amazon-s3-source',
      'azure-blob-storage-destination',
      'azure-blob-storage-source',
      'https-file',
      'mysql',
      'postgresql',
      'sftp-destination',
      'sftp-source',
      'snowflake-source',
      'webhook',
    ]) {
      assert(bound.has(slug), slug)
    }
  })

  for (const { connector, key, field, name } of binding) {
    test(`(${connector.slug}: ${name}) does not follow to another ${key}`, async () => {
      const { save, secrets } = await added(connector)
      // All values of the way to authenticate that this secret belongs to.
      const way: Values = {}
      for (const [other, values] of Object.entries({ ...field.when, ...connector.secrets[name]?.when })) {
        way[other] = [values].flat()[0] ?? ''
      }
      const complete: Values = { ...way }
      for (const [other, definition] of Object.entries(connector.secrets)) {
        if (definition.type === 'Password') complete[other] = secretFor(definition, other)
        else if (!definition.readonly && !(other in way)) complete[other] = valuesOf(definition)[0]
      }
      await caller.expect(save(complete))
      const before = await secrets()
      const [, other] = valuesOf(field)
      const usable = [connector.secrets[name]?.when?.[key] ?? field.options ?? []].flat()
      const another = field.type === 'Select' ? (usable.find((one) => one !== complete[key]) ?? other) : other
      const others = (field.binds ?? []).filter((other) => other !== name)
      const rest = Object.fromEntries(
        others.map((other) => [other, secretFor(connector.secrets[other], `new-${other}`)]),
      )
      for (const sent of [{}, { [name]: mask }]) {
        await refusedFor(() => save({ ...rest, [key]: another, ...sent }), [name])
        assert.deepEqual(await secrets(), before)
      }
      const renewed = secretFor(connector.secrets[name], 'new')
      await caller.expect(save({ ...rest, [key]: another, [name]: renewed }))
      assert.equal((await secrets())[name], renewed)
      await caller.expect(save({ [key]: another, [name]: mask }))
    })
  }

  test('that has not the form that its field asks for is refused, and named', async () => {
    const { save, secrets } = await added(connectorBySlug('webhook'))
    const url = 'https://hooks.example.com/rows'
    const short = `whsec_${Buffer.alloc(23, 'c').toString('base64')}`
    const long = `whsec_${Buffer.alloc(65, 'c').toString('base64')}`
    const right = secretFor(connectorBySlug('webhook').secrets.signingSecret, 'right')
    for (const wrong of ['canary', 'whsec_', 'whsec_###', short, long, right.replace('whsec_', ''), `${right}\n\n-`]) {
      const { details } = await refusedFor(() => save({ url, signingSecret: wrong }), ['signingSecret'])
      assert.match(details[0]?.message ?? '', /^must be whsec_ and the Base64 form of 24 to 64 random bytes$/)
    }
    await caller.expect(save({ url, signingSecret: right }))
    assert.equal((await secrets()).signingSecret, right)
    await caller.expect(save({ signingSecret: mask }))
  })

  test('that is not in use goes when the destination changes', async () => {
    const { save, secrets, values } = await added(connectorBySlug('sftp-source'))
    const byKey = { hostname: 'one.example', username: 'u', sshPrivateKey: 'canary-key' }
    await caller.expect(save(byKey))
    await caller.expect(save({ authentication: 'password', password: 'canary-password' }))
    assert.deepEqual(Object.keys(await secrets()).sort(), ['password', 'sshPrivateKey'])
    await refusedFor(() => save({ hostname: 'two.example' }), ['password'])
    await caller.expect(save({ hostname: 'two.example', password: 'canary-new' }))
    assert.deepEqual(await secrets(), { password: 'canary-new' })
    assert.equal((await values()).sshPrivateKey, '')
  })
})
