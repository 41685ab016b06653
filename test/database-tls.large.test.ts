import assert from 'node:assert/strict'
import { chmod, chown, copyFile, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ConfigError, readConfig } from '../packages/server/src/config.ts'
import { explainFailure } from '../packages/server/src/db/failures.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { openCluster } from '../packages/server/src/embedded/cluster.ts'
import { ensureRunning, shutDown } from '../packages/server/src/embedded/server.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { createAuthority } from './harness/certificates.ts'
import { copyCluster } from './harness/cluster.ts'
import { prepareStage } from './harness/process.ts'
import { withSession } from './harness/session.ts'

/** TLS to PostgreSQL: what each sslmode verifies, and the message if a server fails the verification. */

let base: string
let files: Record<string, string>
let server: Awaited<ReturnType<typeof openCluster>>
let port: number
const admin = () => `postgres://penstock:${server.password}@127.0.0.1:${port}/penstock`
const address = (host: string, query: string, user = 'penstock') =>
  `postgres://${user}:${server.password}@${host}:${port}/penstock${query}`

/** Makes the server use other files, and waits until new connections see them. */
async function serverUses(name: string, settings: Record<string, string> = {}) {
  const copy = async (from: string, to: string) => {
    await copyFile(from, to)
    if (server.owner) await chown(to, server.owner.uid, server.owner.gid)
    await chmod(to, 0o600)
  }
  await copy(join(base, `${name}.pem`), join(server.data, 'server.crt'))
  await copy(join(base, `${name}.key`), join(server.data, 'server.key'))
  await copy(join(base, 'clients.pem'), join(server.data, 'root.crt'))
  await withSession(admin(), async (session) => {
    for (const [setting, value] of Object.entries({ ssl: 'on', ssl_ca_file: 'root.crt', ...settings })) {
      await session.query(`alter system set ${setting} = '${value}'`)
    }
    await session.query('select pg_reload_conf()')
  })
}

/** Whether a session of this address is encrypted, or the message for the operator. */
async function attempt(url: string): Promise<string> {
  try {
    const session = await openSession(url, 'probe')
    try {
      const { rows } = await session.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
      return rows[0]?.ssl ? 'encrypted' : 'plain'
    } finally {
      await session.end()
    }
  } catch (error) {
    return explainFailure(error, url) ?? `not explained: ${error}`
  }
}

before(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'penstock-tls-')))
  await chmod(base, 0o711)
  const ours = await createAuthority(base, 'ours')
  const others = await createAuthority(base, 'others')
  const clients = await createAuthority(base, 'clients')
  await ours.issue('local', 'DNS:localhost,IP:127.0.0.1')
  await ours.issue('elsewhere', 'DNS:db.example.com')
  await ours.issue('expired', 'DNS:localhost,IP:127.0.0.1', -1)
  await clients.issue('penstock', undefined)
  await clients.issue('stranger', undefined)
  await others.issue('forged', undefined)
  const file = (name: string) => join(base, name)
  files = { ours: file('ours.pem'), others: file('others.pem') }
  await copyCluster(join(base, 'server'))
  server = await openCluster(join(base, 'server'), { durable: false, settings: {} })
  port = (await ensureRunning(server)).port
})
after(async () => {
  await shutDown(server)
  await rm(base, { recursive: true, force: true, maxRetries: 10 })
})

describe('an address of a server with TLS', { concurrency: 1 }, () => {
  const trusts = () => `&sslrootcert=${files.ours}`
  const distrusts = () => `&sslrootcert=${files.others}`

  test('means what libpq means by it', async () => {
    await serverUses('local')
    assert.equal(await attempt(address('localhost', '')), 'plain')
    assert.equal(await attempt(address('localhost', '?sslmode=disable')), 'plain')
    assert.equal(await attempt(address('localhost', '?sslmode=require')), 'encrypted')
    for (const host of ['localhost', '127.0.0.1']) {
      for (const mode of ['require', 'verify-ca', 'verify-full']) {
        assert.equal(await attempt(address(host, `?sslmode=${mode}${trusts()}`)), 'encrypted', `${mode} ${host}`)
        assert.match(await attempt(address(host, `?sslmode=${mode}${distrusts()}`)), /authority that is not trusted/)
      }
    }
    assert.match(await attempt(address('localhost', '?sslmode=verify-full')), /authority that is not trusted/)
  })

  test('of another name passes verify-ca and fails verify-full, and the answer names the names', async () => {
    await serverUses('elsewhere')
    assert.equal(await attempt(address('localhost', `?sslmode=verify-ca${trusts()}`)), 'encrypted')
    for (const host of ['localhost', '127.0.0.1']) {
      const said = await attempt(address(host, `?sslmode=verify-full${trusts()}`))
      assert.match(said, /is for db\.example\.com, not for this host \(ERR_TLS_CERT_ALTNAME_INVALID\)/)
      assert.match(said, /Use a name of the certificate as the host in DATABASE_URL/)
    }
  })

  test('whose certificate has expired is refused with that reason', async () => {
    await serverUses('expired')
    for (const mode of ['verify-ca', 'verify-full']) {
      const said = await attempt(address('localhost', `?sslmode=${mode}${trusts()}`))
      assert.match(said, /has expired \(CERT_HAS_EXPIRED\)\. Renew it on the server/)
    }
    assert.equal(await attempt(address('localhost', '?sslmode=require')), 'encrypted')
  })

  test('whose authority is unknown: the answer names the setting, or the file that lacks it', async () => {
    await serverUses('local')
    assert.match(await attempt(address('localhost', '?sslmode=verify-full')), /Add sslrootcert=\/path\/to\/ca\.pem/)
    assert.match(
      await attempt(address('localhost', `?sslmode=verify-full${distrusts()}`)),
      /Save the certificate of the authority that issued it in .*others\.pem/,
    )
  })

  test('that asks for a client certificate gets one, and the answer says if it is missing or of another', async () => {
    await serverUses('local')
    const hba = join(server.data, 'pg_hba.conf')
    const before = await readFile(hba, 'utf8')
    await writeFile(hba, `hostssl all all all cert\n${before.replace(/^host /gm, 'hostnossl ')}`)
    await serverUses('local')
    const own = (name: string) => `&sslcert=${base}/${name}.pem&sslkey=${base}/${name}.key`
    const query = `?sslmode=verify-full${trusts()}`
    assert.equal(await attempt(address('localhost', query + own('penstock'))), 'encrypted')
    assert.match(
      await attempt(address('localhost', query)),
      /without a certificate that it trusts\. Add sslcert and sslkey/,
    )
    assert.match(await attempt(address('localhost', query + own('forged'))), /without a certificate that it trusts/)
    assert.match(await attempt(address('localhost', query + own('stranger'))), /must be the role/)
    await writeFile(hba, before)
    await serverUses('local')
  })

  test('serves the whole service with verify-full, and its commands', async (t) => {
    await serverUses('local')
    const stage = await prepareStage(t)
    const env = {
      DATABASE_URL: address('localhost', `?sslmode=verify-full${trusts()}`),
      PENSTOCK_MASTER_KEY: generateMasterKey(),
    }
    const served = await stage.serve({ env })
    assert.equal((await fetch(`${served.url}/readyz`)).status, 200)
    await withSession(admin(), async (session) => {
      const { rows } = await session.query(
        `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'penstock%'`,
      )
      assert.deepEqual(rows, [{ ssl: true }])
    })
    const said = await stage.penstock(['doctor'], { env })
    assert.equal(said.code, 0, said.stdout)
  })

  test('that has no TLS: the answer is to turn it on', async () => {
    await serverUses('local', { ssl: 'off' })
    const said = await attempt(address('localhost', `?sslmode=verify-full${trusts()}`))
    assert.match(said, /does not offer TLS, and DATABASE_URL has sslmode=verify-full\. Turn ssl on there/)
  })

  test('no answer proposes to do without TLS or without verification', async () => {
    const text = await readFile(join(import.meta.dirname, '../packages/server/src/db/tls-failures.ts'), 'utf8')
    assert.doesNotMatch(text, /no-verify|remove sslmode|sslmode=(?:require|disable)/)
  })
})

describe('parameters that do not mean what they mean to libpq are refused', () => {
  const refusalOf = (query: string): string => {
    try {
      readConfig({ DATABASE_URL: `postgres://a:b@db/penstock?${query}`, PENSTOCK_MASTER_KEY: generateMasterKey() })
      return ''
    } catch (error) {
      assert(error instanceof ConfigError)
      return error.message
    }
  }
  for (const [query, says] of [
    ['sslmode=prefer', /sslmode=prefer is refused, because it falls back/],
    ['sslmode=allow', /sslmode=allow is refused, because it falls back/],
    ['sslmode=no-verify', /not a mode of PostgreSQL\. Use verify-full/],
    ['sslmode=verify', /must be one of disable, require, verify-ca, verify-full/],
    ['sslmode=verify-ca', /needs sslrootcert/],
    [
      'sslmode=verify-full&sslrootcert=/nowhere/ca.pem',
      /sslrootcert names the file \/nowhere\/ca\.pem, which cannot be read \(ENOENT\)/,
    ],
    ['sslmode=require&sslrootcert=system', /needs sslmode=verify-full/],
    ['sslmode=verify-full&sslcert=/a.pem', /sslcert and sslkey must be set together/],
    ['sslrootcert=/a.pem', /sslrootcert needs sslmode=verify-full/],
    ['ssl=true', /ssl is not supported\. Use sslmode=verify-full/],
    ['sslmode=verify-full&sslcrl=/a.pem', /sslcrl is not supported/],
    [`sslmode=verify-full&sslrootcert=${import.meta.filename}`, /must name PEM files/],
  ] as const) {
    test(query.replace(import.meta.filename, 'a file that is not PEM'), () => assert.match(refusalOf(query), says))
  }
  test('PGSSLMODE, which libpq reads, is refused, not ignored', () => {
    const env = { DATABASE_URL: 'postgres://a:b@db/penstock', PENSTOCK_MASTER_KEY: generateMasterKey() }
    assert.throws(() => readConfig({ ...env, PGSSLMODE: 'verify-full' }), /PGSSLMODE is not used\. Add sslmode/)
  })
  test('sslmode=verify-full with the authorities of the system is accepted', () => {
    assert.equal(refusalOf('sslmode=verify-full&sslrootcert=system'), '')
    assert.equal(refusalOf('sslmode=verify-full'), '')
  })
})
