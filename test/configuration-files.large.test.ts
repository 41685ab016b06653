import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createClient } from '@penstock/client'
import {
  chooseAccounts,
  createDefinitions,
  createResolver,
  describePlan,
  loadDesired,
  makePlan,
  readState,
  viewPlan,
} from '@penstock/configuration'
import { acme, codeService, fieldsOf, problemsOf, secrets } from './harness/configuration-code.ts'

/** Configuration as code: names in files, and files that are refused. */

const { running, aParty } = codeService()

describe('a file', { concurrency: 3 }, () => {
  test('renames, keeps what is named by its identifier, and replaces where connectors differ', async () => {
    const party = await aParty()
    await party.apply(await party.write(acme))
    const [account] = (await readState(party.client)).accounts
    const renamed = await party.write(
      acme
        .replace('- name: Acme Outdoor', '- name: Acme\n    was: [Acme Outdoor, Never]')
        .replace('- name: Orders', '- name: Sales\n        was: [Orders]'),
    )
    assert.deepEqual(fieldsOf(await party.plan(renamed)), ['name', 'name'])
    await party.apply(renamed)
    const [now] = (await readState(party.client)).accounts
    assert.deepEqual([now?.id, now?.name], [account?.id, 'Acme'])
    assert.deepEqual(now?.connections.map(({ id }) => id).sort(), account?.connections.map(({ id }) => id).sort())
    const moved = await party.write(
      (await readFile(join(renamed, '0.yaml'), 'utf8'))
        .replace(
          '      - connector: webhook',
          '      - connector: local-folder\n        settings: {path: in}\n      - connector: webhook',
        )
        .replace(
          '{connector: amazon-s3-source, settings: {bucketUri: "s3://acme/orders/"}}',
          '{connector: google-cloud-storage-source}',
        ),
    )
    assert.match(
      await problemsOf(party.plan(moved)),
      /google-cloud-storage-source is not added to the sub-account Acme\. List it/,
    )
  })

  test('finds a connection that was renamed by hand, and never makes a second one', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    await party.apply(path)
    const before = await party.state()
    const [account] = (await readState(party.client)).accounts
    const orders = account?.connections.find(({ name }) => name === 'Orders')
    assert(account && orders)
    const renameTo = (name: string) =>
      party.client.updateConnection({ accountId: account.id, id: orders.id, body: { name } })
    for (const text of [acme, (await party.export()).text]) {
      await renameTo('Orders, by hand')
      await renameTo('Orders, twice')
      const plan = await party.plan(await party.write(text))
      assert.deepEqual(fieldsOf(plan), ['name'])
      assert.deepEqual(plan.unmanaged, [])
      assert.match(plan.notes.join(), /The connection Orders .* was renamed to Orders, twice/)
      await party.apply(path)
      assert.deepEqual(await party.state(), before)
    }
    const [now] = (await readState(party.client)).accounts
    assert.equal(now?.connections.find(({ name }) => name === 'Orders')?.id, orders.id)
  })

  test('finds what else was renamed by hand by its identifier: sub-accounts, configurations, webhooks and alert rules', async () => {
    const party = await aParty()
    const further = acme
      .replace(
        '    connections:',
        `      - connector: webhook
        configuration: Archive
        settings: {url: "https://hooks.example.com/archive"}
        secrets: {signingSecret: "\${env:HOOK}"}
    webhooks:
      - url: https://shop.example.com/events
    alertRules:
      - name: Late
        conditions: {transferFailed: true}
    connections:`,
      )
      .replace('bucketUri: "s3://acme/returns/"}}\n        destination: {connector: webhook}', (text) =>
        text.replace('{connector: webhook}', '{connector: webhook, configuration: Archive}'),
      )
    const path = await party.write(further)
    await party.apply(path)
    const before = await party.state()
    const read = async () => {
      const { webhooks, alertRules, ...state } = await readState(party.client)
      const account = state.accounts[0] ?? assert.fail()
      const archive = account.connectors.find(({ first }) => !first) ?? assert.fail()
      return { account, archive, webhook: webhooks[0] ?? assert.fail(), rule: alertRules[0] ?? assert.fail() }
    }
    const idsOf = ({ account, archive, webhook, rule }: Awaited<ReturnType<typeof read>>) => {
      return [account.id, archive.configurationId, webhook.id, rule.id]
    }
    const was = await read()
    const { client } = party
    const { connectorId: id, configurationId } = was.archive
    await client.editAccount({ id: was.account.id, body: { name: 'Acme, by hand' } })
    await client.configureConnector({
      accountId: was.account.id,
      id,
      body: { configurationId, name: 'By hand', secretConfig: {} },
    })
    await client.updateWebhook({ id: was.webhook.id, body: { url: 'https://shop.example.com/by-hand' } })
    await client.updateAlertRule({ id: was.rule.id, body: { name: 'By hand' } })
    const plan = await party.plan(path)
    assert.deepEqual(
      plan.changes.map(({ action, kind }) => `${action} ${kind}`),
      ['update account', 'update connector', 'update webhook', 'update alertRule'],
    )
    assert.deepEqual([plan.unmanaged, plan.notes.length], [[], 4])
    assert.match(plan.notes.join(), /The sub-account Acme Outdoor was renamed to Acme, by hand\. To keep this name/)
    // Credentials without audit:read cannot know, and the plan says so.
    const scopes = [
      'accounts:read',
      'connectors:read',
      'connections:read',
      'transfers:read',
      'webhooks:read',
      'alerts:read',
    ] as const
    const { reply } = await client.createClient({ body: { name: 'No audit', scopes: [...scopes] } })
    const limited = createClient({ baseUrl: running.baseUrl, clientId: reply.id, clientSecret: reply.clientSecret })
    const desired = await loadDesired([path])
    const state = await readState(limited, chooseAccounts(desired))
    const given = { options: {}, definitions: createDefinitions(limited), resolver: createResolver({ env: secrets }) }
    const blind = await makePlan(desired, state, given)
    assert.match(describePlan(blind), /sub-account Acme Outdoor will be created\. .* need the scope audit:read/)
    await party.apply(path)
    assert.deepEqual(await party.state(), before)
    assert.deepEqual(idsOf(await read()), idsOf(was))
  })

  test('has a line for all sub-accounts that no file has', async () => {
    const party = await aParty()
    const path = await party.write('version: 1\naccounts:\n  - name: Ours\n')
    await party.apply(path)
    for (let number = 1; number <= 7; number++) await party.client.addAccount({ body: { name: `Foreign ${number}` } })
    const lines = describePlan(await party.plan(path)).split('\n')
    assert.equal(lines.filter((line) => line.includes('Foreign')).length, 1)
    assert.match(lines.join('\n'), /they are in no file: 7 sub-accounts Foreign \d, .* and 2 more/)
  })

  test('is planned with values that the service will refuse, and names what could be meant', async () => {
    const party = await aParty()
    const withBigQuery = acme.replace(
      '      - connector: webhook\n',
      '      - connector: postgresql\n        settings: {host: db.example.com, port: 70000, database: x, user: x, tlsMode: sometimes}\n        secrets: {password: "${env:HOOK}"}\n      - connector: webhook\n',
    )
    const plan = await party.plan(await party.write(withBigQuery))
    const { failed } = await party.applyPlan(plan)
    assert.deepEqual(
      failed.map(({ change }) => change.name),
      ['postgresql'],
    )
    const refused = plan.refused.map(({ message }) => message)
    assert.match(refused.join('\n'), /port of the connector postgresql must be at most 65535\./)
    assert.equal(refused.length, failed[0]?.problem.message.split('; ').length, refused.join('\n'))
    const wrong = async (text: string) => problemsOf(party.plan(await party.write(text)))
    assert.match(
      await wrong(acme.replace('schedule:', 'shedule:')),
      /shedule is an unknown key.* Did you mean schedule\?/,
    )
    assert.match(
      await wrong(acme.replace('{accessKeyId', '{accesKeyID')),
      /accesKeyID is .* Did you mean accessKeyId\?/,
    )
    assert.match(await wrong(acme.replace(/amazon-s3-source/g, 'amazon-s3-sorce')), /Did you mean amazon-s3-source\?/)
    const used = acme.replace('{connector: webhook}', '{connector: webhok}')
    assert.match(await wrong(used), /webhok is not added .* Did you mean webhook\?/)
    const rule = `${acme}    alertRules:\n      - {name: R, conditions: {transferFailed: true}, connections: [Order]}\n`
    assert.match(await wrong(rule), /There is no connection Order .* Did you mean Orders\?/)
    assert.doesNotMatch(await wrong(acme.replace('schedule:', 'unlike:')), /Did you mean/)
  })

  test('is planned with what the service will refuse: each connector and connection that lacks something', async () => {
    const party = await aParty()
    const text = acme.replace(/\n *secrets: {secretAccessKey.*/, '')
    assert.notEqual(text, acme)
    const path = await party.write(text)
    const plan = await party.plan(path)
    const { failed } = await party.applyPlan(plan)
    const refused = plan.refused.map(({ message }) => message)
    assert.equal(failed.length, refused.length, refused.join('\n'))
    assert(failed.length > 1)
    for (const { change } of failed)
      assert(
        refused.some((message) => message.includes(change.name)),
        change.name,
      )
    assert.match(refused.join('\n'), /connection Orders .* cannot be activated: .*secretAccessKey/)
    assert.match(describePlan(plan), /The service will refuse: .*secretAccessKey/)
    assert.equal(viewPlan(plan).refused.length, refused.length)
    // Planned again, nothing has changed: connections that could not be activated are named again.
    assert((await party.plan(path)).refused.some(({ message }) => message.includes('Orders')))
    assert.deepEqual((await party.plan(await party.write(acme))).refused, [])
  })

  test('is refused as a whole, with every place, where something is wrong', async () => {
    const party = await aParty()
    const wrong = async (text: string, options = {}) => problemsOf(party.plan(await party.write(text), options))
    assert.match(await wrong('version: 2'), /0\.yaml:1:10: version must be 1/)
    assert.match(await wrong('version: 1\nversion: 1'), /0\.yaml:2:1: Map keys must be unique/)
    assert.match(await wrong('version: !!js/function 1'), /0\.yaml:1:10: Unresolved tag/)
    assert.match(await wrong(`${'['.repeat(200_000)}`), /^\S+0\.yaml:\d+:\d+: The file is nested too deeply\.$/)
    // Files that would take hours or the memory are refused, or read, immediately.
    const started = process.cpuUsage()
    const keys = Array.from({ length: 80_000 }, (_, n) => `k${n}: 1`).join('\n')
    assert.match(await wrong(`version: 1\n${keys}`), /0\.yaml:2:5: k0 is an unknown key/)
    assert.match(await wrong(`version: 1\n${'x: 1\n'.repeat(80_000)}`), /0\.yaml:3:1: Map keys must be unique/)
    assert(process.cpuUsage(started).user < 20_000_000)
    for (const key of ['__proto__', 'constructor', '<<', 'toString']) {
      const as = key === '<<' ? '"<<"' : key
      assert.match(await wrong(`version: 1\n${as}: {}`), new RegExp(`0\\.yaml:2:\\d+: ${key} is an unknown key`))
      const inside = acme.replace('settings: {url', `settings: {${as}: x, url`)
      assert.match(await wrong(inside), /(__proto__|constructor|<<|toString) is not (a field of|a valid field key)/)
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.match(await wrong('version: 1\naccounts: !!python/object:os.system [x]'), /Unresolved tag/)
    assert.match(
      await wrong('--- 1\n--- 2'),
      /The file contains several documents\. Write each document to a separate file/,
    )
    assert.match(
      await wrong('version: 1\naccounts:\n  - &a\n    name: A\n    connections: *a'),
      /needs|must be|anchors|nested/,
    )
    const large = await party.write('version: 1\n#')
    await truncate(join(large, '0.yaml'), 17 * 1024 * 1024)
    assert.match(await problemsOf(party.plan(large)), /0\.yaml has more than 16 MiB: split it/)
    await writeFile(join(large, '0.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
    assert.match(await problemsOf(party.plan(large)), /0\.yaml is not UTF-8/)
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${`*${'abcdefgh'[i]},`.repeat(10)}]`),
    ]
    assert.match(await wrong(bomb.join('\n')), /uses its anchors more than 100 times/)
    const unknown = await wrong(
      'version: 1\naccounts:\n  - name: A\n    colour: blue\n    connections:\n      - {name: C, source: {connector: x}}\n',
    )
    assert.match(unknown, /0\.yaml:4:13: accounts\.0\.colour is an unknown key/)
    assert.match(unknown, /0\.yaml:6:9: accounts\.0\.connections\.0 needs destination: add it/)
    assert.match(
      await wrong(acme.replace('connector: webhook\n', 'connector: web-hook\n')),
      /0\.yaml:\d+:\d+: This version of the service has no connector web-hook/,
    )
    assert.match(
      await wrong(acme.replace('bucketUri: "s3://acme/orders/"', 'bucket: x')),
      /bucket is not a field of the source amazon-s3-source\. Its fields are: bucketUri/,
    )
    assert.match(
      await wrong(acme.replace('"${env:S3_SECRET}"', 'plain-text')),
      /secretAccessKey is a secret in plain text\. Write a reference/,
    )
    assert.doesNotMatch(await wrong(acme.replace('"${env:S3_SECRET}"', 'plain-text')), /plain-text/)
    const misplaced = acme.replace('settings: {accessKeyId: "${env:S3_KEY}"}', 'settings: {secretAccessKey: x}')
    assert.match(await wrong(misplaced), /secretAccessKey is a secret: write a reference to it under secrets/)
    assert.match(await wrong(acme.replace('s3://acme/orders/', '${NOPE}')), /To write it as text, use \$\$\{/)
    const twice = await problemsOf(party.plan(await party.write(acme, acme)))
    assert.match(
      twice,
      /1\.yaml:14:9: The connection Orders of the sub-account Acme Outdoor is also at \S+0\.yaml:14:9\. Remove/,
    )
    // Everything that is missing is reported together, before anything is done.
    const path = await party.write(acme)
    const plan = await party.plan(path, { env: { S3_KEY: 'x' } })
    assert.equal(plan.missing.length, 2)
    assert.match(describePlan(plan), /Needed to apply: \S+ The environment variable S3_SECRET is not set/)
    party.requests.length = 0
    assert.match(await problemsOf(party.applyPlan(plan, {})), /S3_SECRET[\s\S]*HOOK/)
    assert.deepEqual(party.requests, [])
    assert.match(await problemsOf(party.plan(path, { env: {} })), /The environment variable S3_KEY is not set/)
  })

  test('takes secrets from files, and from nowhere outside of a directory that is given', async () => {
    const party = await aParty()
    const path = await party.write(acme.replace('${env:S3_SECRET}', '${file:secret}'))
    await writeFile(join(path, 'secret'), `${secrets.S3_SECRET}\n`)
    const elsewhere = await mkdtemp(join(tmpdir(), 'penstock-outside-'))
    await writeFile(join(elsewhere, 'secret'), 'outside')
    assert.deepEqual((await party.plan(path, { filesWithin: path })).missing, [])
    await rm(join(path, 'secret'))
    await symlink(join(elsewhere, 'secret'), join(path, 'secret'))
    const { missing } = await party.plan(path, { filesWithin: path })
    assert.match(missing[0]?.message ?? '', /The file secret is not in .*: move it there/)
    await rm(elsewhere, { recursive: true })
  })

  test('sends secrets where they are not set, with any other change, and with another secretName', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    await party.apply(path)
    const rotated = await party.write(
      acme.replace('connector: webhook\n', 'connector: webhook\n        secretName: hooks/2\n'),
    )
    assert.deepEqual(fieldsOf(await party.plan(rotated)), ['secretName', 'secrets.signingSecret'])
    await party.apply(rotated, { env: { ...secrets, HOOK: `whsec_${Buffer.alloc(32, 'other').toString('base64')}` } })
    assert.deepEqual(fieldsOf(await party.plan(path, { setSecrets: true })), [
      'secrets.secretAccessKey',
      'secrets.signingSecret',
    ])
    // Without the variables of secrets that are set, a plan still works.
    assert.deepEqual((await party.plan(rotated, { env: { S3_KEY: secrets.S3_KEY } })).missing, [])
    const log = running.service.logLines.join('\n')
    for (const secret of [secrets.S3_SECRET, secrets.HOOK]) assert(!log.includes(secret))
  })
})
