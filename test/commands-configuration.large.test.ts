import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@penstock/client'
import { readState } from '@penstock/configuration'
import { callerOf } from './harness/fixtures.ts'
import { prepareStage, type Stage } from './harness/process.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'

/** `penstock export`, `plan` and `apply` as processes: their settings, what they print, how they end, and what a kill leaves. */

let service: TestService
let baseUrl: string
let stage: Stage
let finish: () => Promise<void>
before(async () => {
  service = await startTestService()
  baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
  stage = await prepareStage({
    after: (work) => {
      finish = work
    },
  })
})
after(async () => {
  await finish()
  await service.close()
})

const secret = 'canary-of-a-command'
const envOf = ({ clientId, clientSecret }: Organization) => ({
  PENSTOCK_URL: baseUrl,
  PENSTOCK_CLIENT_ID: clientId,
  PENSTOCK_CLIENT_SECRET: clientSecret,
  S3_SECRET: secret,
  SLACK_URL: `https://hooks.example.com/${secret}`,
  PENSTOCK_DATA_DIR: join(stage.base, 'none'),
})

const fileOf = (connections: number, prefix = 's3://acme') =>
  `version: 1
accounts:
  - name: Acme
    connectors:
      - connector: amazon-s3-source
        settings: {accessKeyId: AKIAEXAMPLE}
        secrets: {secretAccessKey: "\${env:S3_SECRET}"}
      - connector: local-folder
    connections:
${Array.from(
  { length: connections },
  (_, n) => `      - name: Orders ${n}
        source: {connector: amazon-s3-source, settings: {bucketUri: "${prefix}/${n}/"}}
        destination: {connector: amazon-s3-destination}
        schedule: {cron: 0 6 * * *}
`,
).join('')}`.replace('local-folder', 'amazon-s3-destination')

/** With webhooks and alert rules, of the sub-account and of the organization. */
const heardOf = (connections: number) => `${fileOf(connections)}    webhooks:
      - url: https://hooks.example.com/acme
    alertRules:
      - name: First
        conditions: {transferFailed: true}
        connections: [Orders 0]
        slackUrl: "\${env:SLACK_URL}"
webhooks:
  - url: https://hooks.example.com/all
alertRules:
  - name: Second
    conditions: {noSuccessHours: 26}
`

let files = 0
const write = async (text: string) => {
  const path = join(stage.base, `${++files}.yaml`)
  await writeFile(path, text)
  return path
}

describe('the commands', { concurrency: 2 }, () => {
  test('plan, apply and export, with exit codes for programs, and no colour or secret in what they print', async () => {
    const organization = await service.addOrganization()
    const env = envOf(organization)
    const run = (...args: string[]) => stage.penstock(args, { env })
    const path = await write(fileOf(2))
    const planned = await run('plan', path)
    assert.equal(planned.code, 2, planned.stderr)
    assert.match(planned.stdout, /^Sub-account Acme\n {2}\+ {3}sub-account Acme {2}\(.*:3:11\)\n/)
    assert.match(planned.stdout, /secrets\.secretAccessKey {2}set\n/)
    const digest = /Plan: 5 to create\. Digest ([0-9a-f]{16})\n$/.exec(planned.stdout)?.[1] ?? ''
    const json = await run('plan', path, '--json')
    assert.deepEqual(
      [json.code, JSON.parse(json.stdout).digest, JSON.parse(json.stdout).summary.create],
      [2, digest, 5],
    )

    const unexpected = await run('apply', path, '--expect', '0123456789abcdef')
    assert.equal(unexpected.code, 3)
    assert.match(
      unexpected.stderr,
      /^penstock: The plan is not the expected one, 0123456789abcdef: .* Nothing was changed\./,
    )
    const applied = await run('apply', path, '--expect', digest)
    assert.deepEqual([applied.code, applied.stderr], [0, ''])
    assert.match(applied.stdout, /5 of 5 changes are done\.\n$/)
    assert.deepEqual(await run('plan', path).then(({ code, stdout }) => [code, stdout]), [0, 'Nothing to change.\n'])
    assert.match((await run('apply', path)).stdout, /Nothing to change\.\nNothing was changed\.\n$/)

    const exported = await run('export')
    assert.deepEqual([exported.code, exported.stderr], [0, ''])
    const directory = join(stage.base, 'exported')
    const split = await run('export', '--directory', directory)
    const names = ['_organization.yaml', 'acme.yaml']
    const wrote = names.map((name) => `Wrote ${join(directory, name)}\n`).join('')
    assert.equal(split.stdout, `${wrote}Needs ACME_AMAZON_S3_SOURCE_SECRET_ACCESS_KEY\n`)
    assert.deepEqual((await readdir(directory)).sort(), names)
    const parts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))
    const [ofOrganization = '', ofAccount = ''] = parts
    assert(exported.stdout.endsWith(ofAccount.slice(ofAccount.indexOf('accounts:'))), exported.stdout)
    assert(exported.stdout.includes(ofOrganization.slice(ofOrganization.indexOf('version:'))), ofOrganization)
    const ofOne = await run('export', '--account', 'Acme')
    assert.equal(ofOne.stdout, ofAccount)
    // A secret that is set needs no variable.
    assert.equal((await run('plan', directory)).stdout, 'Nothing to change.\n')
    for (const { stdout, stderr } of [planned, json, applied, exported, split]) {
      assert(!`${stdout}${stderr}`.includes(secret) && !`${stdout}${stderr}`.includes('\u001b'))
      assert(!`${stdout}${stderr}`.includes(organization.clientSecret))
    }

    // Another source is another connection.
    const moved = await write(
      fileOf(2).replace('{connector: amazon-s3-source, settings: {bucketUri: "s3://acme/0/"}}', '{connector: webhook}'),
    )
    const refused = await run('plan', moved)
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /^penstock: \S+:\d+:\d+: webhook is not added to the sub-account Acme\. List it under its connectors\.\npenstock: \S+ webhook cannot be the source of a connection\.\n$/,
    )
    const replaced = await write(
      fileOf(2)
        .replace(
          '      - connector: amazon-s3-destination\n',
          '      - connector: amazon-s3-destination\n      - connector: google-cloud-storage-source\n',
        )
        .replace(
          '{connector: amazon-s3-source, settings: {bucketUri: "s3://acme/0/"}}',
          '{connector: google-cloud-storage-source}',
        ),
    )
    assert.match((await run('plan', replaced)).stdout, / {2}-\/\+ connection Orders 0 /)
    const kept = await run('apply', replaced)
    assert.equal(kept.code, 1)
    assert.match(
      kept.stderr,
      /these would be deleted and created again: connection Orders 0\. Nothing was changed\. Use --allow-destroy/,
    )
    assert.equal((await run('apply', replaced, '--allow-destroy')).code, 0)
    assert.equal((await run('plan', replaced)).code, 0)
  })

  test('say what is missing or wrong in sentences, with exit code 1', async () => {
    const path = await write(fileOf(1))
    const env = envOf(await service.addOrganization())
    const unset = await stage.penstock(['plan', path], { env: { PENSTOCK_URL: '', PENSTOCK_CLIENT_ID: '' } })
    assert.equal(unset.code, 1)
    assert.deepEqual(unset.stderr.match(/^penstock: .* is not set/gm)?.length, 3)
    const cases: [string[], Record<string, string>, RegExp][] = [
      [['plan'], env, /missing required argument 'path'/],
      [['plan', path, '--secret', 'x'], env, /unknown option '--secret'/],
      [['plan', 'not-there.yaml'], env, /^penstock: not-there\.yaml cannot be read \(ENOENT\)/],
      [['export', '--account', 'Nobody'], env, /^penstock: The sub-account Nobody does not exist\.\n$/],
      [['export', '--url', 'penstock'], env, /PENSTOCK_URL must be an address/],
      [['plan', path], { ...env, PENSTOCK_CLIENT_SECRET: 'wrong' }, /^penstock: .*credentials.*\n$/],
      [
        ['plan', path, '--url', 'http://127.0.0.1:1'],
        env,
        /^penstock: http:\/\/127\.0\.0\.1:1\/es\/v2 cannot be reached/,
      ],
      [
        ['apply', path],
        { ...env, S3_SECRET: '' },
        /^penstock: \S+:7:\d+: The environment variable S3_SECRET is not set: set it\.\n$/,
      ],
    ]
    for (const [args, of, says] of cases) {
      const { code, stderr } = await stage.penstock(args, { env: of })
      assert.equal(code, 1, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, says)
    }
    assert.equal(
      (await callerOf(service, await service.addOrganization()).call('listAccounts')).headers['x-total-count'],
      '0',
    )
  })

  test('killed with SIGKILL between any of its writes, apply continues and makes nothing twice', async (t) => {
    const organization = await service.addOrganization()
    const env = envOf(organization)
    const connections = 12
    const path = await write(heardOf(connections))
    const client = createClient({ baseUrl, clientId: organization.clientId, clientSecret: organization.clientSecret })
    const { server } = service.service.app
    let kills = 0
    // The first write is the request for a token. The service completes the write at which the process is killed.
    for (const last of [2, 3, 4, 5, 6, 9, 15, 18, 19, 21, 30]) {
      const program = stage.start(process.execPath, ['packages/server/bin/penstock.js', 'apply', path], { env })
      let writes = 0
      const kill = ({ method, headers }: IncomingMessage) => {
        if (method === 'GET' || headers['user-agent'] !== 'node') return
        if (++writes === last && !program.hasEnded) program.signal('SIGKILL')
      }
      server.on('request', kill)
      const { signal } = await program.ended
      server.off('request', kill)
      if (signal === 'SIGKILL') kills++
    }
    t.diagnostic(`${kills} kills`)
    assert(kills >= 5, `${kills}`)
    const last = await stage.penstock(['apply', path], { env })
    assert.equal(last.code, 0, last.stderr)
    const { accounts, webhooks, alertRules } = await readState(client)
    assert.deepEqual(
      [webhooks.map(({ url }) => url).sort(), alertRules.map(({ name }) => name).sort()],
      [
        ['https://hooks.example.com/acme', 'https://hooks.example.com/all'],
        ['Failures', 'First', 'Second'],
      ],
    )
    const names = accounts.flatMap((account) => account.connections.map(({ name }) => name)).sort()
    assert.deepEqual([accounts.length, names], [1, Array.from({ length: connections }, (_, n) => `Orders ${n}`).sort()])
    assert.equal((await stage.penstock(['plan', path], { env })).code, 0)
  })

  test('two at once make everything once', async () => {
    const organization = await service.addOrganization()
    const env = envOf(organization)
    const path = await write(heardOf(20))
    const kept = join(stage.base, 'webhook-secrets')
    const apply = () => stage.penstock(['apply', path, '--webhook-secrets', kept], { env })
    const both = await Promise.all([apply(), apply()])
    // A process that plans between two steps of the other can find that something was changed meanwhile. It says what and
    // where.
    const ends = both.map(
      ({ code, stderr }) =>
        `${code} ${stderr.replace(/^(?:penstock: connector |\S+\.yaml:\d+:\d+: ).*?(?=It was)/, '')}`,
    )
    const changed = '3 It was changed after the plan was made, so apply did not change it. Plan again.\n'
    assert(ends.includes('0 ') && ends.every((end) => end === '0 ' || end === changed), ends.join())
    assert.equal((await apply()).code, 0)
    assert.equal((await stage.penstock(['plan', path], { env })).code, 0)
    const caller = callerOf(service, organization)
    const { headers } = await caller.call('listConnections')
    assert.equal(headers['x-total-count'], '20')
    // The file has the secret of each webhook that is there, and no one else can read it.
    const webhooks = await caller.expect(caller.call('listWebhooks', {}))
    const lines = (await readFile(kept, 'utf8')).trim().split('\n')
    const secrets = lines.map(
      (line) => JSON.parse(line) as { account: string | null; url: string; id: string; secret: string },
    )
    assert.deepEqual(
      secrets.map(({ account, url, id }) => `${account} ${url} ${id}`).sort(),
      webhooks.map(({ accountId, url, id }) => `${accountId && 'Acme'} ${url} ${id}`).sort(),
    )
    assert(secrets.every(({ secret }) => /^whsec_\S{44}$/.test(secret)))
    assert.equal((await stat(kept)).mode & 0o777, 0o600)
    for (const { stdout, stderr } of both) assert(!`${stdout}${stderr}`.includes('whsec_'))
  })
})
