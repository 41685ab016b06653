import assert from 'node:assert/strict'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { rogueNames, startRogueServer } from '../packages/connectors/test/rogue-http.ts'
import { rogueMysqlScripts, startRogueMysql } from '../packages/connectors/test/rogue-mysql.ts'
import { rogueScripts, startRoguePostgresql } from '../packages/connectors/test/rogue-postgresql.ts'
import {
  rogueDestinationSettings as sftpDestinationSettings,
  rogueSourceSettings as sftpSourceSettings,
  startRogueSftp,
} from '../packages/connectors/test/rogue-sftp.ts'
import { rogueSftpScripts } from '../packages/connectors/test/rogue-sftp-scripts.ts'
import { startBystander, steadily } from './harness/bystander.ts'
import { isAlive, runnersOf } from './harness/children.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { hostileFiles } from './harness/hostile-files.ts'
import { http, prepareStage, type Served, type Stage, tokenOf } from './harness/process.ts'
import { until } from './harness/until.ts'

/**
 * A hostile tenant with its own files and servers, next to another organization. Whatever it sends, the service answers, the
 * other organization's transfers succeed, and the tenant gets a clear error. `npm run test:attack` runs all attacks. Otherwise
 * a part of them is enough.
 */

const all = process.env.PENSTOCK_TEST_ATTACKS === 'all'
/** Servers that take long to be given up. */
const onlyWhole = all ? {} : { skip: 'npm run test:attack runs it' }
const some = <T>(attacks: readonly T[], every: number): readonly T[] =>
  all ? attacks : attacks.filter((_, index) => index % every === 0)

/** Between two transfers of the other organization: without a pause they would take most of the time of the processor. */
const besidePauseMs = 250

const hooks: (() => Promise<void>)[] = []
after(async () => {
  for (const hook of hooks.reverse()) await hook()
})

let stage: Stage
let served: Served
let folder: string
const local = connectorBySlug('local-folder')
const postgresql = connectorBySlug('postgresql')
const mysql = connectorBySlug('mysql')

/** A client with a token. */
type Tenant = {
  token: string
  call<T = { id: string }>(path: string, method?: string, body?: object): Promise<Answer<T>>
}
type Answer<T> = { status: number; error: string | undefined; response: T; text: string }
let attacker: Tenant
let other: Tenant

before(async () => {
  stage = await prepareStage({ after: (hook) => void hooks.push(hook) })
  folder = join(stage.base, 'files')
  await mkdir(folder)
  await chmod(folder, 0o755)
  served = await stage.serve({
    env: {
      PENSTOCK_LOCAL_FOLDERS: folder,
      PENSTOCK_EGRESS: 'any',
      // No retries for a server that stays broken. The connectors' own timeouts of 60 s are shorter than the progress timeout.
      PENSTOCK_RETRY_SECONDS: '1',
      PENSTOCK_PROGRESS_SECONDS: '90',
      PENSTOCK_RATE_LIMIT: '0',
      PENSTOCK_LOG_LEVEL: 'warn',
    },
  })
  attacker = tenant(await tokenOf(served, stage.dataDirectory))
  const made = await stage.penstock(['org', 'create', '--name', 'Other', '--owner-email', 'o@example.com', '--json'])
  assert.equal(made.code, 0, made.stderr)
  const { clientId, clientSecret } = JSON.parse(made.stdout) as { clientId: string; clientSecret: string }
  other = tenant(await tokenOf(served, stage.dataDirectory, { clientId, clientSecret }))
})

const tenant = (token: string): Tenant => ({
  token,
  call: async <T>(path: string, method = 'GET', body?: object) =>
    (await http(served.url, path, { token, method, ...(body ? { body } : {}) })) as unknown as Answer<T>,
})

async function addAccount({ call }: Tenant, name: string, connectors: readonly { id: string }[]): Promise<string> {
  const { id } = (await call('/accounts', 'POST', { name })).response
  await call(`/connectors?accountId=${id}`, 'POST', { connectorIds: connectors.map((each) => each.id) })
  return id
}

async function configure(of: Tenant, accountId: string, connectorId: string, secretConfig: object): Promise<void> {
  const answer = await of.call(`/connectors/${connectorId}/configuration?accountId=${accountId}`, 'PUT', {
    secretConfig,
  })
  assert.equal(answer.status, 200, answer.text)
}

type Side = { connectorId: string; config: object }

async function connect(of: Tenant, accountId: string, source: Side, destination: Side): Promise<string> {
  const made = await of.call(`/connections?accountId=${accountId}`, 'POST', {
    name: 'Any',
    srcConnectorId: source.connectorId,
    srcConnectionConfig: source.config,
    destConnectorId: destination.connectorId,
    destConnectionConfig: destination.config,
  })
  assert.equal(made.status, 201, made.text)
  const { id } = made.response
  const active = await of.call(`/connections/${id}/status?accountId=${accountId}`, 'PUT', { action: 'activate' })
  assert.equal(active.status, 200, active.text)
  return id
}

type Transfer = {
  id: string
  status: string
  finishedTime: number | null
  error: { code: string; message: string } | null
  records: { read: number; accepted: number; rejected: number }
}

async function move(of: Tenant, accountId: string, connectionId: string, what = 'the transfer'): Promise<Transfer> {
  const path = `/connections/${connectionId}/transfers`
  const started = await of.call<Transfer>(`${path}?accountId=${accountId}`, 'POST', {})
  // A connection that the previous transfer broke cannot start a transfer.
  assert.equal(started.status, 202, started.text)
  return until(
    `${what}: it has ended`,
    async () => {
      const { response } = await of.call<Transfer>(`${path}/${started.response.id}?accountId=${accountId}`)
      return response.finishedTime === null ? undefined : response
    },
    900_000,
  )
}

/** The answer to an attacker: a clear message, never an internal error. */
function assertClear(name: string, answer: Answer<unknown>): void {
  assert([200, 422].includes(answer.status), `${name}: ${answer.status} ${answer.text.slice(0, 300)}`)
  assert(answer.status === 200 || answer.error === 'platform_refused', `${name}: ${answer.text.slice(0, 300)}`)
}

function assertEnded(name: string, { status, error, records }: Transfer): void {
  assert.notEqual(error?.code, 'internal', `${name}: ${error?.message}`)
  assert(status !== 'failed' || (error?.message.length ?? 0) > 20, `${name}: ${status} without a sentence`)
  assert(records.accepted + records.rejected <= records.read, name)
}

/** Results of the attacks, for the reader of the test. */
const outcomes = new Map<string, number>()
const note = (key: string) => outcomes.set(key, (outcomes.get(key) ?? 0) + 1)

async function attackWithFiles(files: readonly (typeof hostileFiles)[number][], lanes: number): Promise<void> {
  const accountId = await addAccount(attacker, 'Files', [local])
  await configure(attacker, accountId, local.id, { folder })
  const queue = [...files]
  const lane = async () => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      const { fileName, bytes } = file
      await writeFile(join(folder, fileName), bytes())
      const source = { connectorId: local.id, config: { files: fileName } }
      const id = await connect(attacker, accountId, source, {
        connectorId: local.id,
        config: { subfolder: 'out' },
      })
      const preview = await attacker.call(`/connections/${id}/preview?accountId=${accountId}`, 'POST', {
        unmapped: true,
      })
      assertClear(fileName, preview)
      note(`preview ${preview.status}`)
      const transfer = await move(attacker, accountId, id, fileName)
      assertEnded(fileName, transfer)
      note(`file: ${transfer.error?.code ?? transfer.status}`)
      await rm(join(folder, fileName))
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  await rm(join(folder, 'out'), { recursive: true, force: true })
}

/** A server that misbehaves, and how a connector is pointed at it. */
type Rogue = { readonly secrets: object; close(): Promise<void> }

/** Connectors of the same platform, with the settings of a connection. They are the same connector if it has both roles. */
type Target = { readonly source: Side; readonly destination: Side }

/** Checks, reads from and writes to servers that misbehave, four at a time. */
async function attackWithServers<Script extends { readonly name: string }>(
  target: Target,
  scripts: readonly Script[],
  start: (script: Script, connectorId: string) => Promise<Rogue>,
): Promise<void> {
  await writeFile(join(folder, 'things.csv'), 'id,name\n1,a\n2,b\n')
  const queue = [...scripts]
  const lane = async () => {
    const ids = [...new Set([target.source.connectorId, target.destination.connectorId])]
    const accountId = await addAccount(attacker, 'Servers', [local, ...ids.map((id) => ({ id }))])
    await configure(attacker, accountId, local.id, { folder })
    for (let script = queue.shift(); script; script = queue.shift()) {
      const { name } = script
      const rogues = new Map<string, Rogue>()
      try {
        for (const id of ids) rogues.set(id, await start(script, id))
        await attackWithServer(name, accountId, target, rogues)
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
      } finally {
        for (const rogue of rogues.values()) await rogue.close()
      }
    }
  }
  await Promise.all(Array.from({ length: 4 }, lane))
}

/** @param rogues the server of each connector, by its id */
async function attackWithServer(
  name: string,
  accountId: string,
  { source, destination }: Target,
  rogues: ReadonlyMap<string, Rogue>,
): Promise<void> {
  for (const [id, { secrets }] of rogues) {
    await configure(attacker, accountId, id, secrets)
    const check = await attacker.call(`/connectors/${id}/check?accountId=${accountId}`, 'POST', {})
    assert.equal(check.status, 200, check.text)
  }
  const out = { connectorId: local.id, config: { subfolder: 'out' } }
  const reading = await connect(attacker, accountId, source, out)
  const preview = await attacker.call(`/connections/${reading}/preview?accountId=${accountId}`, 'POST', {})
  assertClear(name, preview)
  const file = { connectorId: local.id, config: { files: 'things.csv' } }
  const writing = await connect(attacker, accountId, file, destination)
  for (const id of [reading, writing]) {
    const transfer = await move(attacker, accountId, id, name)
    assertEnded(name, transfer)
    const code = transfer.error?.code ?? transfer.status
    // The code is noted only if the supervisor ended the job.
    note(`server: ${['no_progress', 'out_of_memory', 'runner_crashed'].includes(code) ? `${code} (${name})` : code}`)
  }
}

/** Another organization moves a thousand rows again and again during the attack. */
async function moveBeside(isOver: () => boolean): Promise<number[]> {
  const accountId = await addAccount(other, 'Beside', [local])
  await configure(other, accountId, local.id, { folder })
  await writeFile(join(folder, 'beside.csv'), `id\n${Array.from({ length: 1_000 }, (_, i) => `${i}\n`).join('')}`)
  const source = { connectorId: local.id, config: { files: 'beside.csv' } }
  const id = await connect(other, accountId, source, { connectorId: local.id, config: { subfolder: 'beside' } })
  const tookMs: number[] = []
  const moveOnce = async () => {
    const begun = performance.now()
    const transfer = await move(other, accountId, id)
    assert.deepEqual([transfer.status, transfer.error, transfer.records.accepted], ['succeeded', null, 1_000])
    tookMs.push(performance.now() - begun)
  }
  await steadily(besidePauseMs, moveOnce, isOver)
  return tookMs
}

/** Attacks, while another organization works and calls the API. */
async function besides(t: { diagnostic(text: string): void }, attack: () => Promise<void>): Promise<void> {
  outcomes.clear()
  const bystander = startBystander(served.url, other.token)
  let isOver = false
  const attacking = attack().finally(() => {
    isOver = true
  })
  try {
    const [tookMs] = await Promise.all([moveBeside(() => isOver), attacking])
    t.diagnostic(
      `beside it ${tookMs.length} transfers of 1,000 rows succeeded, in ${Math.round(Math.max(...tookMs))} ms at most`,
    )
  } finally {
    const seen = await bystander.stop()
    t.diagnostic(`a bystander called ${seen.calls} times: 99 % within ${seen.p99Ms} ms, all within ${seen.mostMs} ms`)
    t.diagnostic([...outcomes].map(([key, count]) => `${key} ${count}`).join(', '))
    assert.equal(seen.failed, 0)
    assert(seen.calls > 0)
  }
  assert(!served.hasEnded && isAlive(served.pid))
}

describe('a hostile tenant', () => {
  test('with files harms no other tenant', (t) => besides(t, () => attackWithFiles(some(hostileFiles, 28), 4)))

  test('with servers that break the protocol of PostgreSQL harms no other tenant', async (t) => {
    const address = new URL(await stage.databaseUrl())
    const target = { host: address.hostname, port: Number(address.port) }
    const secrets = {
      host: '127.0.0.1',
      database: 'postgres',
      user: 'penstock',
      tlsMode: 'disable',
      password: decodeURIComponent(address.password),
    }
    const scripts = some(
      rogueScripts().filter(({ silent }) => all || !silent),
      48,
    )
    const table = { connectorId: postgresql.id, config: { table: 'things' } }
    await besides(t, () =>
      attackWithServers({ source: table, destination: table }, scripts, async (script) => {
        const rogue = await startRoguePostgresql(script, target)
        return { secrets: { ...secrets, port: rogue.port }, close: rogue.close }
      }),
    )
  })

  test('with servers that break the protocol of MySQL harms no other tenant', async (t) => {
    const scripts = some(
      rogueMysqlScripts.filter(({ silent }) => all || !silent),
      32,
    )
    const table = { connectorId: mysql.id, config: { table: 'things' } }
    const secrets = { host: '127.0.0.1', database: 'any', user: 'any', password: 'any', tlsMode: 'disable' }
    await besides(t, () =>
      attackWithServers({ source: table, destination: table }, scripts, async (script) => {
        const rogue = await startRogueMysql(script)
        return { secrets: { ...secrets, port: rogue.port }, close: rogue.close }
      }),
    )
  })

  test('with servers that break the protocols of SSH and SFTP harms no other tenant', onlyWhole, async (t) => {
    const scripts = some(
      rogueSftpScripts.filter(({ silent }) => all || !silent),
      12,
    )
    const target = {
      source: { connectorId: connectorBySlug('sftp-source').id, config: sftpSourceSettings },
      destination: { connectorId: connectorBySlug('sftp-destination').id, config: sftpDestinationSettings },
    }
    await besides(t, () =>
      attackWithServers(target, scripts, async (script, connectorId) => {
        const rogue = await startRogueSftp(script)
        const { sshPrivateKey, hostKeyFingerprint } = rogue.secrets
        const reads = connectorId === target.source.connectorId ? { authentication: 'private key' } : {}
        const server = { hostname: '127.0.0.1', port: rogue.port, username: 'ada' }
        return { secrets: { ...server, ...reads, sshPrivateKey, hostKeyFingerprint }, close: rogue.close }
      }),
    )
  })

  test('with servers that break the protocol of HTTP harms no other tenant', onlyWhole, async (t) => {
    const server = await startRogueServer()
    t.after(() => server.close())
    const isSlow = (name: string) => /trickle|slowly|stall|unended|half|plain|endless|wait|list/.test(name)
    const scripts = some(
      rogueNames.filter((name) => all || !isSlow(name)).map((name) => ({ name })),
      12,
    )
    const target = {
      source: { connectorId: connectorBySlug('https-file').id, config: {} },
      destination: { connectorId: connectorBySlug('webhook').id, config: {} },
    }
    const signingSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    await besides(t, () =>
      attackWithServers(target, scripts, async ({ name }, connectorId) => {
        const url = `${server.origin}/${name}/people.csv`
        const secrets = connectorId === target.source.connectorId ? { url } : { url, signingSecret }
        return { secrets, close: async () => {} }
      }),
    )
  })

  test('leaves nothing behind', async (t) => {
    if (process.platform !== 'linux') return t.skip('the processes of others are found in /proc')
    await until('runners that are not used are gone', () => runnersOf(served.pid).length <= 1)
  })
})
