import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { operations } from '@penstock/wire'
import { type Import, readImports, resolveImport } from './harness/imports.ts'

/** The boundaries of ARCHITECTURE.md, proven on the sources' imports and SQL. Each exception is listed here with its reason. */

const root = dirname(import.meta.dirname)
const linesMax = 400

type Source = {
  /** `wire`, `server` … */
  readonly package: string
  /** Inside the package's `src`. */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}
type Manifest = {
  name: string
  exports?: Record<string, string>
  bin?: Record<string, string>
  dependencies?: Record<string, string>
}

const sources: readonly Source[] = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts'))
  .sort()
  .map((file) => {
    const [, name = '', , ...rest] = file.split('/')
    const text = readFileSync(join(root, file), 'utf8')
    return { package: name, path: rest.join('/'), text, imports: readImports(text) }
  })
const packages = new Map<string, Manifest>(
  [...new Set(sources.map((source) => source.package))].map((name) => [
    name,
    JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')),
  ]),
)
const ofPackage = (name: string) => sources.filter((source) => source.package === name)
const browserSafe = (name: string) => ofPackage(name).filter((source) => where(source) !== beside)
const server = ofPackage('server')
const where = (source: Source) => `${source.package}/src/${source.path}`

/** The name under which a package is declared: `@scope/name/inside` is `@scope/name`. */
const packageName = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
const isRelative = ({ specifier }: Import) => specifier.startsWith('.')
const target = (source: Source, { specifier }: Import) => posix.join(posix.dirname(source.path), specifier)

const byPath = new Map(sources.map((source) => [`packages/${where(source)}`, source]))
const imported = (source: Source, { specifier }: Import): Source | undefined =>
  byPath.get(resolveImport(`packages/${where(source)}`, specifier) ?? '')

/** Fails with all lines, each of which says what is broken and where. */
function assertNone(broken: readonly string[]): void {
  assert.equal(broken.length, 0, `\n${broken.join('\n')}`)
}

/** Imports by a name that is made at run time. */
const loaders: Readonly<Record<string, string>> = {
  'connectors/src/connector-files.ts': 'loads the one connector that a runner needs, by its slug',
  'connectors/src/installed/load-installed.ts': 'loads a connector that the operator added, from its folder',
  'engine/src/compile.ts': 'has Node compile every file that a runner may load',
}

/** Only npm's own resolution knows where npm has put the PostgreSQL of this machine. It loads nothing. */
const resolver = 'server/src/embedded/binaries.ts'

test('every import is seen', () => {
  assert(sources.length > 200 && packages.size >= 5)
  const unseen = sources.flatMap((source) => {
    const begun = source.text.match(/^import\b|^\} from '|^export [^;\n]* from '/gm) ?? []
    const inMany = source.text.match(/^import (?:type )?\{$|^import (?:type )?\w+, \{$/gm) ?? []
    const imports = source.text.match(/(?<=[^.\w])import\(/g) ?? []
    const made = where(source) in loaders ? 1 : 0
    return begun.length - inMany.length + imports.length === source.imports.length + made ? [] : [where(source)]
  })
  assertNone(unseen)
  const requiring = sources.filter(({ text }) => /\bcreateRequire\b|(?<![.\w])require\(/.test(text)).map(where)
  assertNone(requiring.filter((file) => file !== resolver))
})

/** Imports that each package is allowed, in addition to itself. `node:` only if it is listed. */
const mayImport: Readonly<Record<string, { readonly names: readonly string[]; readonly node: boolean }>> = {
  wire: { names: ['typebox'], node: false },
  // It knows nothing of connectors: errors, limits on rows and the source of bytes are given to it.
  parquet: { names: ['hyparquet', 'hyparquet-writer'], node: true },
  connector: {
    names: ['@duckdb/duckdb-wasm', '@penstock/parquet', '@penstock/wire', 'apache-arrow', 'sax', 'yauzl'],
    node: true,
  },
  // It knows neither connectors nor records: values and the key of hashes are given to it.
  expressions: { names: ['@marcbachmann/cel-js', '@penstock/wire'], node: true },
  // simple-icons draws the brands' logos. The other packages implement the protocols of platforms.
  connectors: {
    names: [
      '@penstock/connector',
      '@penstock/expressions',
      '@penstock/wire',
      'aws4fetch',
      'bcrypt-pbkdf',
      'fast-xml-parser',
      'jose',
      'js-yaml',
      'mysql2',
      'oauth4webapi',
      'pg',
      'simple-icons',
      'ssh2',
      'yaml',
    ],
    node: true,
  },
  // It runs in runners, and is the only package that loads the code of connectors.
  engine: {
    names: [
      '@penstock/connector',
      '@penstock/connectors',
      '@penstock/expressions',
      '@penstock/wire',
      '@iabgpp/cmpapi',
      'libphonenumber-js',
      'openid-client',
    ],
    node: true,
  },
  client: { names: ['@penstock/wire'], node: false },
  // It calls the service as any other program does, and reads files.
  configuration: { names: ['@penstock/client', '@penstock/wire', 'ajv', 'yaml'], node: true },
  // Libraries of the browser, and of ours the contract, its client, and the table of functions: the console decides nothing.
  console: {
    names: [
      '@fontsource-variable/inter',
      '@mantine/charts',
      '@mantine/core',
      '@mantine/hooks',
      '@penstock/client',
      '@penstock/expressions',
      '@penstock/wire',
      '@tabler/icons-react',
      '@tanstack/react-query',
      'croner',
      'react',
      'react-dom',
      'react-router',
      'yaml',
    ],
    node: false,
  },
}
/** Tells the server the path of the console. No browser loads it. */
const beside = 'console/src/dist-path.ts'

for (const [name, { names, node }] of Object.entries(mayImport)) {
  test(`${name} imports only ${names.join(', ')}${node ? ' and Node' : ', nothing of Node'}`, () => {
    assertNone(
      browserSafe(name).flatMap((source) =>
        source.imports
          .filter((one) => !isRelative(one))
          .filter(({ specifier }) => (isBuiltin(specifier) ? !node : !names.includes(packageName(specifier))))
          .map(({ specifier }) => `${where(source)} imports ${specifier}`),
      ),
    )
    const nodeOnly = /\b(?:process|Buffer)\.|\b__(?:dirname|filename)\b|import\.meta\.(?:dirname|filename)\b/
    if (!node)
      assertNone(
        browserSafe(name)
          .filter(({ text }) => nodeOnly.test(text))
          .map(where),
      )
  })
}

test('texts are normalised in linear time: String.normalize needs the square of a run of combining marks', () => {
  // Passwords have at most 200 characters, and the console runs in the browser of the person who enters them.
  const bounded = ['wire/src/normal-form.ts', 'server/src/users/passwords.ts']
  const normalising = sources.filter(({ text }) => /\.normalize\(['"]NF/.test(text)).map(where)
  assertNone(normalising.filter((path) => !bounded.includes(path) && !path.startsWith('console/')))
})

test('the console has the table of functions, and nothing that evaluates an expression', () => {
  const imported = ofPackage('console').flatMap(({ imports }) => imports.map(({ specifier }) => specifier))
  assertNone(imported.filter((one) => one.startsWith('@penstock/expressions') && one !== '@penstock/expressions/facts'))
})

test('the console calls the service through its client alone, and shows nothing as markup', () => {
  const callers = ['api/calls.ts', 'api/downloads.ts']
  const calling = ofPackage('console').filter(({ text }) => /\bfetch\(|XMLHttpRequest|sendBeacon|WebSocket/.test(text))
  assertNone(calling.filter(({ path }) => !callers.includes(path)).map(where))
  assertNone(
    ofPackage('console')
      .filter(({ text }) => /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write/.test(text))
      .map(where),
  )
})

test('no package imports what its package.json does not declare', () => {
  assertNone(
    sources.flatMap((source) => {
      const declared = Object.keys(packages.get(source.package)?.dependencies ?? {})
      return source.imports
        .filter((one) => !isRelative(one) && !isBuiltin(one.specifier))
        .filter(({ specifier }) => !declared.includes(packageName(specifier)))
        .map(({ specifier }) => `${where(source)} imports ${specifier}`)
    }),
  )
})

test('what a package exports is there, and so is every file that this test names', () => {
  const named = [...packages].flatMap(([name, { exports = {}, bin = {} }]) =>
    [...Object.values(exports), ...Object.values(bin)].map((file) => posix.join('packages', name, file)),
  )
  const excepted = [...Object.keys(loaders), resolver, beside, runnerFile].map((file) => posix.join('packages', file))
  assertNone([...named, ...excepted].filter((file) => !existsSync(join(root, file))))
  assertNone(
    movers.filter(
      (mover) => !sources.some(({ imports }) => imports.some(({ specifier }) => packageName(specifier) === mover)),
    ),
  )
})

test('ARCHITECTURE names every module of the server, and what the documents link to is there', () => {
  const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const modules = layers.filter((layer) => layer.endsWith('/'))
  assertNone(modules.filter((name) => !architecture.includes(`| \`${name}\``)))
  const documents = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...globSync('docs/*.md', { cwd: root }),
  ]
  assertNone(
    documents.flatMap((document) =>
      [...readFileSync(join(root, document), 'utf8').matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)]
        .map(([, link = '']) => join(dirname(document), link))
        .filter((link) => !existsSync(join(root, link)))
        .map((link) => `${document} links to ${link}`),
    ),
  )
})

test('no package reaches inside another one', () => {
  const exported = new Set(
    [...packages.values()].flatMap(({ name, exports = {} }) =>
      Object.keys(exports).map((key) => posix.join(name, key)),
    ),
  )
  assertNone(
    sources.flatMap((source) =>
      source.imports
        .filter((one) =>
          isRelative(one)
            ? posix.join('src', target(source, one)).startsWith('..')
            : one.specifier.startsWith('@penstock/') && !exported.has(one.specifier),
        )
        .map(({ specifier }) => `${where(source)} imports ${specifier}`),
    ),
  )
})

test('no files import each other in a circle, not even types', () => {
  assertNone(circlesOf(sources).map((circle) => circle.map(where).sort().join('\n  ')))
})

/** The groups of files in which each file reaches every other one by imports (Tarjan). */
function circlesOf(all: readonly Source[]): Source[][] {
  const circles: Source[][] = []
  const numbers = new Map<Source, number>()
  const lowest = new Map<Source, number>()
  const open: Source[] = []
  const visit = (source: Source): number => {
    const number = numbers.size
    numbers.set(source, number)
    lowest.set(source, number)
    open.push(source)
    for (const one of source.imports) {
      const next = imported(source, one)
      if (!next) continue
      const reached = numbers.has(next) ? (open.includes(next) ? numbers.get(next) : undefined) : visit(next)
      lowest.set(source, Math.min(lowest.get(source) ?? number, reached ?? number))
    }
    if (lowest.get(source) === number) {
      const circle = open.splice(open.indexOf(source))
      if (circle.length > 1) circles.push(circle)
    }
    return lowest.get(source) ?? number
  }
  for (const source of all) if (!numbers.has(source)) visit(source)
  return circles
}

/** Every file that is loaded with these entries. Dynamic imports are loaded with a file only if `dynamic` says so. */
function loadedWith(entries: readonly Source[], dynamic: (source: Source) => boolean): Map<Source, Source | undefined> {
  const found = new Map<Source, Source | undefined>(entries.map((entry) => [entry, undefined]))
  for (const source of found.keys()) {
    for (const one of source.imports) {
      const next = one.typeOnly || (one.dynamic && !dynamic(source)) ? undefined : imported(source, one)
      if (next && !found.has(next)) found.set(next, source)
    }
  }
  return found
}

const runnerFile = 'engine/src/runner.ts'

/** Packages that move data: the drivers, the formats of files, the egress, the engine. */
const movers = ['ssh2', 'mysql2', 'aws4fetch', 'fast-xml-parser', 'jose', 'hyparquet', 'hyparquet-writer']

/** Files that send requests of the service itself, so that each loads the way to the network with the first one. */
const senders: Readonly<Record<string, readonly string[]>> = {
  'server/src/outgoing/outgoing.ts': ['@penstock/connector/egress'],
  'server/src/secret-managers/secret-managers.ts': [
    '@penstock/connector/egress',
    '@penstock/connectors/secret-managers',
  ],
}

test('the server loads definitions of connectors, and nothing of what they do', () => {
  for (const [file, expected] of Object.entries(senders)) {
    const sends = server.find((source) => where(source) === file)
    const late = sends?.imports
      .filter(({ dynamic, typeOnly }) => dynamic && !typeOnly)
      .map(({ specifier }) => specifier)
    assert.deepEqual([...new Set(late)].sort(), expected)
  }
  const loaded = loadedWith(server, (source) => source.package === 'server' && !(where(source) in senders))
  const does = (source: Source) =>
    source.imports.some(
      ({ specifier, typeOnly, dynamic }) => !typeOnly && !dynamic && movers.includes(packageName(specifier)),
    ) ||
    /^connector\/src\/(egress\/(index|egress|exchange|answer|look-up)|files\/(index|read|write|csv|ndjson|parquet|opened))|^parquet\/src\/(read|write)|^engine\/src\/(transfer|jobs|runner|authorize|check|inspect|preview)/.test(
      where(source),
    )
  const broken = [...loaded].filter(([source]) => does(source))
  assertNone(broken.map(([source, by]) => `${by ? where(by) : 'the server'} loads ${where(source)}`))
})

test('the engine alone loads what connectors do', () => {
  const runner = sources.filter((source) => where(source) === runnerFile)
  const loaded = loadedWith(runner, () => true)
  assert(loaded.size > 50, 'the runner loads the engine')
  assertNone([...loaded.keys()].filter((source) => ['server', 'client', 'console'].includes(source.package)).map(where))
  const engines = sources.filter(
    ({ package: name }) => !['engine', 'parquet', 'expressions', 'connector', 'connectors'].includes(name),
  )
  assertNone(
    engines.filter(({ imports }) => imports.some((one) => one.specifier === '@penstock/connectors/load')).map(where),
  )
})

test('TypeBox is imported for its types alone: it would take a fifth of a second of every process', () => {
  assertNone(
    sources
      .filter(({ imports }) => imports.some(({ specifier, typeOnly }) => /^typebox/.test(specifier) && !typeOnly))
      .map(where),
  )
})

test('a runner starts without what is slow to load: the schemas, the phone numbers, a second HTTP client', () => {
  const runner = sources.filter((source) => where(source) === runnerFile)
  const slow = ['typebox', 'libphonenumber-js/min', 'node:http', 'node:https']
  assertNone(
    [...loadedWith(runner, () => false).keys()].flatMap((source) =>
      source.imports
        .filter(({ specifier, typeOnly, dynamic }) => !typeOnly && !dynamic && slow.includes(specifier))
        .map(({ specifier }) => `${where(source)} imports ${specifier}`),
    ),
  )
})

test('the service starts without what few of its processes need: the Model Context Protocol, OpenTelemetry', () => {
  const loaded = loadedWith(
    sources.filter((source) => where(source) === 'server/src/service.ts'),
    () => false,
  )
  const late = [
    '@modelcontextprotocol/sdk',
    ...Object.keys(packages.get('server')?.dependencies ?? {}).filter((name) => name.startsWith('@opentelemetry/')),
  ]
  assertNone(
    [...loaded.keys()].flatMap((source) =>
      source.imports
        .filter(({ specifier, typeOnly, dynamic }) => !typeOnly && !dynamic && late.includes(packageName(specifier)))
        .map(({ specifier }) => `${where(source)} imports ${specifier}`),
    ),
  )
})

/** The modules of the server, from the lowest up. Each can import earlier ones, and itself. */
const layers = [
  'version.ts',
  'places.ts',
  'refusal.ts',
  'identifiers.ts',
  'time.ts',
  'db/',
  'call.ts',
  'access.ts',
  'csrf.ts',
  'secrets/',
  'identity-tokens/',
  'otel-settings.ts',
  'quota-settings.ts',
  'stream-settings.ts',
  'config-values.ts',
  'egress-settings.ts',
  'secret-manager-settings.ts',
  'config.ts',
  'own-command.ts',
  'log.ts',
  'repeat.ts',
  'telemetry/',
  'mail.ts',
  'embedded/',
  'runners/',
  'metrics/',
  'outgoing/',
  'audit/',
  'secret-managers/',
  'events/',
  'organizations/',
  'tokens/',
  'accounts/',
  'users/',
  'connectors/',
  'uploads/',
  'streams/',
  'connections/',
  'transfers/',
  'streams/',
  'samples/',
  'authorizations/',
  'single-sign-on/',
  'webhooks/',
  'connect-links/',
  'alerts/',
  'attention/',
  'reports/',
  'handlers.ts',
  'documents/',
  'mcp/',
  'http/',
  'worker/',
  'service.ts',
  'access-document.ts',
  'connector-documents.ts',
  'generated-documents.ts',
  'cli/',
]
const resourceModules = layers.slice(layers.indexOf('audit/'), layers.indexOf('reports/') + 1)
const layerOf = (path: string) => (path.includes('/') ? `${path.split('/')[0]}/` : path)

/** Imports of each file of the server from another layer. */
const crossings = server.flatMap((source) =>
  source.imports
    .filter(isRelative)
    .map((one) => ({ source, from: layerOf(source.path), path: target(source, one), typeOnly: one.typeOnly }))
    .map((crossing) => ({ ...crossing, to: layerOf(crossing.path) }))
    .filter(({ from, to }) => from !== to),
)
const say = ({ source, path }: { source: Source; path: string }) => `${where(source)} imports ${path}`

test('the server depends downward only', () => {
  const unknown = server.map(({ path }) => layerOf(path)).filter((layer) => !layers.includes(layer))
  assert.deepEqual([...new Set(unknown)], [], 'say where these stand')
  const upward = crossings.filter(({ from, to }) => layers.indexOf(to) >= layers.indexOf(from))
  assertNone(upward.map(say))
})

test('http imports no resource module, and no resource module imports http or the command line, not even a type', () => {
  const edges = ['http/', 'documents/', 'cli/']
  assertNone(crossings.filter(({ from, to }) => resourceModules.includes(from) && edges.includes(to)).map(say))
  assertNone(
    crossings
      .filter(({ from, to }) => from === 'http/' && (resourceModules.includes(to) || to === 'handlers.ts'))
      .map(say),
  )
  const ofWorkers = crossings.filter(({ from, to }) => from === 'worker/' && edges.includes(to)).map(say)
  assert.deepEqual(ofWorkers, [
    'server/src/worker/monitor.ts imports http/node-http.ts',
    'server/src/worker/purge.ts imports http/idempotency.ts',
  ])
})

/** `queries.ts`, and where a module has many statements, a file for each thing that is asked: `list-queries.ts`. */
const statementFile = /\/(?:[a-z]+-)*queries\.ts$/

test('no resource module imports the statements of another one', () => {
  assertNone(
    crossings
      .filter(
        ({ from, to, path }) =>
          resourceModules.includes(from) && resourceModules.includes(to) && statementFile.test(path),
      )
      .map(say),
  )
})

test('the rule of an operation is its handler, by the name of the operation: `(call, deps)`', () => {
  const signature = (name: string) =>
    new RegExp(
      `^export (?:(?:async )?function ${name}|const ${name} = )\\(\\s*(?:\\w+|\\{[^;]*?\\}): Call<'${name}'>`,
      'm',
    )
  assertNone(
    Object.keys(operations).filter(
      (name) =>
        server.filter(({ path, text }) => resourceModules.includes(layerOf(path)) && signature(name).test(text))
          .length !== 1,
    ),
  )
})

test('statements are in queries.ts, or in a file beside it that ends alike', () => {
  const elsewhere: Readonly<Record<string, string>> = {
    'db/statement.ts': 'makes them',
    'db/clock.ts': 'reads no table',
    'db/readiness.ts': 'reads the table of the migrations and the version of the server, which belong to no module',
    'http/idempotency.ts': 'http is no resource module, and its one table has one file',
  }
  const found = server.filter(({ text }) => /(?<![.\w])statement[<(]/.test(text)).map(({ path }) => path)
  assertNone(found.filter((path) => !statementFile.test(path) && !(path in elsewhere)))
  assertNone(Object.keys(elsewhere).filter((path) => !found.includes(path)))
})

test('only these files query PostgreSQL without a statement', () => {
  const speakers: Readonly<Record<string, string>> = {
    'db/database.ts': 'begins, commits and rolls back',
    'db/backup/dump.ts': 'reads every table, whatever its columns',
    'db/backup/load.ts': 'fills every table, in one transaction with the migrations',
    'db/backup/tables.ts': 'makes the statements for that from the catalog of the database',
    'db/migrate.ts': 'applies the files of the migrations, under a lock',
    'db/pooler.ts': 'looks at what a session keeps, which a statement cannot',
    'db/session.ts': 'opens the connections for these',
    'db/shares.ts': 'passes statements on, and asks whether the database answers',
    'db/notices.ts': 'listens on a connection of its own',
    'db/statement.ts': 'is the way that all others take',
    'embedded/session.ts': 'makes the database in the server that it started',
    'samples/provision.ts': 'makes databases and roles, whose names no parameter can be',
    'secrets/keyring.ts': 'holds a lock on the listening connection',
    'secrets/rotate.ts': 'waits for that lock on a connection that it throws away',
  }
  const found = server.filter(({ text }) => /\.query\s*[<(]/.test(text)).map(({ path }) => path)
  assertNone(found.filter((path) => !(path in speakers)))
  assertNone(Object.keys(speakers).filter((path) => !found.includes(path)))
})

test('each table is written only by its own module', () => {
  const owners: Readonly<Record<string, string>> = {
    penstock_migrations: 'db/',
    master_keys: 'secrets/',
    secrets: 'secrets/',
    oauth_apps: 'secrets/',
    signing_keys: 'identity-tokens/',
    data_keys: 'secrets/',
    audit_events: 'audit/',
    audit_heads: 'audit/',
    audit_keys: 'secrets/',
    audit_queue: 'audit/',
    organization_counts: 'triggers alone',
    environments: 'organizations/',
    organizations: 'organizations/',
    organization_limits: 'organizations/',
    organization_rows: 'transfers/',
    connector_definitions: 'connectors/',
    clients: 'organizations/',
    mail_counts: 'organizations/',
    tokens: 'tokens/',
    idempotency_keys: 'http/',
    accounts: 'accounts/',
    streams: 'streams/',
    stream_keys: 'streams/',
    stream_columns: 'streams/',
    stream_batches: 'streams/',
    stream_messages: 'streams/',
    stream_refusals: 'streams/',
    stream_notes: 'streams/',
    stream_volumes: 'streams/',
    uploads: 'uploads/',
    upload_chunks: 'uploads/',
    saved_filters: 'connections/',
    mapping_templates: 'connections/',
    purposes: 'connections/',
    samples: 'samples/',
    users: 'users/',
    user_sessions: 'users/',
    user_links: 'users/',
    passkeys: 'users/',
    used_challenges: 'users/',
    alert_rules: 'alerts/',
    alert_incidents: 'alerts/',
    alert_checks: 'alerts/',
    alert_sweeps: 'alerts/',
    alert_deliveries: 'alerts/',
    alert_delivery_totals: 'alerts/',
    events: 'events/',
    webhooks: 'webhooks/',
    webhook_deliveries: 'webhooks/',
    webhook_attempts: 'webhooks/',
    webhook_totals: 'webhooks/',
    single_sign_on: 'single-sign-on/',
    user_identities: 'users/',
    user_groups: 'users/',
    user_group_members: 'users/',
    added_connectors: 'connectors/',
    configurations: 'connectors/',
    authorizations: 'authorizations/',
    connect_links: 'connect-links/',
    organization_branding: 'connect-links/',
    connections: 'connections/',
    connection_counts: 'triggers alone',
    connector_counts: 'triggers alone',
    connection_events: 'triggers alone',
    transfers: 'transfers/',
    active_transfers: 'triggers alone',
    transfer_totals: 'triggers alone',
    ledger: 'transfers/',
    rejects: 'transfers/',
    rejecting_transfers: 'triggers alone',
    transfer_logs: 'transfers/',
    transfer_parts: 'transfers/',
    connection_digests: 'transfers/',
    connection_states: 'transfers/',
    connection_tables: 'transfers/',
    connection_dependencies: 'transfers/',
    connection_groups: 'transfers/',
    connection_rules: 'transfers/',
    dependent_checks: 'transfers/',
    transfer_groups: 'transfers/',
    triggers: 'transfers/',
    schedules: 'transfers/',
    schedule_pauses: 'transfers/',
    probes: 'transfers/',
    change_logs: 'transfers/',
    audience_checks: 'transfers/',
    audience_measures: 'transfers/',
    worker_versions: 'transfers/',
    purges: 'worker/',
  }
  const exceptions: Readonly<Record<string, string>> = {
    'organizations/client-queries.ts deletes tokens': 'a client is revoked together with its tokens, or not at all',
    'transfers/supervisor/ledger-queries.ts updates accounts':
      'volumes change together with the ledger that they are the sum of',
    'transfers/supervisor/ledger-queries.ts updates connections':
      'volumes change together with the ledger that they are the sum of',
  }
  const schema = readFileSync(join(root, 'packages', 'server', 'schema.sql'), 'utf8')
  const tables = [...schema.matchAll(/^create table (\w+) \(/gm)].map(([, name = '']) => name)
  assert.deepEqual([...tables].sort(), Object.keys(owners).sort(), 'say who owns each table')

  const writes = server.flatMap((source) => {
    const found = source.text.matchAll(
      /\b(insert)\s+into\s+(\w+)|\b(delete)\s+from\s+(\w+)|\b(update)\s+(\w+)\s+(?:\w+\s+)?set\b/g,
    )
    return [...found]
      .map(([, insert, inserted, remove, removed, update, updated]) => ({
        does: `${insert ?? remove ?? update}s`,
        table: inserted ?? removed ?? updated ?? '',
      }))
      .filter(({ table }) => table in owners)
      .map(({ does, table }) => ({ source, table, text: `${source.path} ${does} ${table}` }))
  })
  const written = new Set(writes.map(({ table }) => table))
  assertNone(tables.filter((table) => !written.has(table) && owners[table] !== 'triggers alone'))
  const foreign = writes.filter(({ source, table }) => layerOf(source.path) !== owners[table]).map(({ text }) => text)
  assertNone(foreign.filter((text) => !(text in exceptions)))
  assertNone(Object.keys(exceptions).filter((text) => !foreign.includes(text)))
})

test('no name of an exported type stands for two things in one package', () => {
  const twice: Readonly<Record<string, string>> = {}
  const exported = sources.flatMap((source) =>
    [...source.text.matchAll(/^export (?:abstract )?(?:type|interface|class|enum) (\w+)/gm)].map(([, name]) => ({
      key: `${source.package} ${name}`,
      file: where(source),
    })),
  )
  const found = [...Map.groupBy(exported, ({ key }) => key)].filter(([, all]) => all.length > 1)
  assertNone(
    found
      .filter(([key]) => !(key in twice))
      .map(([key, all]) => `${key} is exported by ${all.map(({ file }) => file).join(' and ')}`),
  )
  const names = found.map(([key]) => key)
  assertNone(Object.keys(twice).filter((key) => !names.includes(key)))
})

test('no object literal is spread into another one: it would look like a merge', () => {
  const all = globSync(['packages/*/{src,test}/**/*.{ts,tsx}', '{test,bench,scripts,demo}/**/*.ts'], { cwd: root })
  assertNone(all.filter((file) => /\.{3}\{/.test(readFileSync(join(root, file), 'utf8'))))
})

test(`no file has more than ${linesMax} lines`, () => {
  const all = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
  const long = all
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > linesMax)
  assertNone(long.map(({ file, lines }) => `${file} has ${lines}`))
})
