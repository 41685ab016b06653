import assert from 'node:assert/strict'
import { isBuiltin } from 'node:module'
import { test } from 'node:test'
import { readImports, resolveImport, textOf } from './harness/imports.ts'

/**
 * Every parser and transformation that a text of a tenant can reach in a process that answers the API, with the bound of its
 * input. A new library, and a new use of a function of JavaScript whose cost can exceed the length of a text, fails until it is
 * listed here. `hostile-texts.large.test.ts` tries them.
 */

/** The files that a process of the API loads, as `test/boundaries.test.ts` finds them. Connectors load theirs in runners. */
function loadedByApi(): string[] {
  const found = new Set(['packages/server/src/service.ts', 'packages/server/src/cli/serve.ts'])
  for (const file of found) {
    for (const { specifier, typeOnly, dynamic } of readImports(textOf(file))) {
      const late = dynamic && (!file.startsWith('packages/server/') || file.endsWith('/outgoing/outgoing.ts'))
      const next = typeOnly || late ? undefined : resolveImport(file, specifier)
      if (next && /\.tsx?$/.test(next)) found.add(next)
    }
  }
  return [...found].sort()
}
const loaded = loadedByApi().map((path) => ({
  path: path.replace('packages/', '').replace('/src/', '/'),
  text: textOf(path),
}))

/** Libraries, with what they read. A body has at most 1 MiB, the head of a request 16 KiB. */
const libraries: Readonly<Record<string, string>> = {
  aws4fetch: 'nothing: it signs requests to the secret manager of the operator',
  'fast-xml-parser': 'answers of at most 256 KiB of the token service of AWS, for the secret manager of the operator',
  jose: 'a key of the operator, for the secret manager of Google',
  oauth4webapi: 'answers of token endpoints of Google and Microsoft, for the secret manager of the operator',
  '@fastify/cors': 'the header Origin, compared with a list of the operator',
  '@fastify/proxy-addr': 'a header of addresses',
  '@fastify/static': 'a path, which names a file of the console',
  '@marcbachmann/cel-js':
    'an expression of at most 4,000 characters, with bounds on depth, nodes and items; it evaluates nothing',
  '@modelcontextprotocol/sdk': 'a message of JSON as large as a body',
  '@opentelemetry/api': 'traces and metrics of the service itself, without names of tenants',
  '@opentelemetry/exporter-logs-otlp-proto': 'log lines of the service itself',
  '@opentelemetry/exporter-metrics-otlp-proto': 'metrics of the service itself',
  '@opentelemetry/exporter-trace-otlp-proto': 'traces of the service itself',
  '@opentelemetry/resources': 'settings of the operator',
  '@opentelemetry/sdk-logs': 'log lines of the service itself',
  '@opentelemetry/sdk-metrics': 'metrics of the service itself',
  '@opentelemetry/sdk-trace': 'traces of the service itself',
  '@scalar/fastify-api-reference': 'the contract of the service',
  '@simplewebauthn/server': 'answers of an authenticator, each text at most 16,384 characters (passkeyAnswerLengthMax)',
  ajv: 'bodies and queries, by the schemas of the contract, which bound each length',
  croner:
    'five fields of cron, at most 200 characters (cronLengthMax); a day that does not exist ends the search after some years',
  'fast-json-stringify':
    'answers: pages of at most 500 entries and 32 MiB, of rejected records 8 MiB (rejectsAnswerLengthMax)',
  fastify: 'requests: the head, the address, and a body in the time of its length',
  'js-yaml': 'a definition of at most 64 KiB (secretLengthMax), up to the first error and in the time of its length',
  marked: 'the documents of the service',
  nodemailer: 'mails of the service, with names of 200 characters and addresses of 254',
  pg: 'answers of the database, whose rows are bounded by the pages of lists',
  pino: 'log lines of the service',
  'prom-client': 'names of metrics of the service',
  'rate-limiter-flexible': 'names and addresses as keys, which it does not parse',
}

/** Functions of the language and of Node whose cost can exceed the length of a text, or that unpack it. */
const functions: Readonly<Record<string, { readonly use: RegExp; readonly places: Readonly<Record<string, string>> }>> =
  {
    'String.normalize, the square of a run of combining marks': {
      use: /\.normalize\(/,
      places: {
        'server/users/passwords.ts': 'passwords of at most 200 characters',
        'wire/normal-form.ts': 'parts with at most 30 marks',
      },
    },
    'patterns that are made at run time': {
      use: /\bnew RegExp\(|[^.\w]RegExp\(/,
      places: {
        'connectors/linkedin-ads/linkedin-offline-conversions.ts': 'a constant, when the file is loaded',
        'engine/mapping/shorten.ts': 'a constant',
        'expressions/local/local-numbers.ts': 'constants, when the file is loaded',
        'expressions/local/local-times.ts': 'constants, when the file is loaded',
        'server/documents/guide-search.ts': 'at most 8 words of at most 100 characters, escaped, on 240 characters',
        'server/http/cookies.ts': 'the name of a cookie of ours',
        'server/http/events.ts': 'a constant',
        'server/http/idempotency.ts': 'a constant',
        'server/http/other-methods.ts': 'addresses of the contract, at the start, on a path of at most 16 KiB',
        'server/http/serve.ts': 'a constant',
        'server/http/triggers.ts': 'a constant',
        'server/single-sign-on/flow.ts': 'a constant',
        'server/users/scim/people.ts': 'a constant',
        'server/users/scim/scim.ts': 'a constant',
        'wire/normal-form.ts': 'constants, when the file is loaded',
      },
    },
    'code that is made at run time': {
      use: /\bnew Function\(|[^.\w]eval\(/,
      places: { 'server/db/run.ts': 'the names of the columns of our own statements' },
    },
    'JSON.parse, at most 20 ms for a MiB': {
      use: /\bJSON\.parse\(/,
      places: {
        'client/transport.ts': 'answers of this process to itself, for tools',
        'client/webhooks.ts': 'nothing here: clients verify webhooks with it',
        'configuration/values.ts': 'nothing here: the command line reads files with it',
        'connector/redact-secrets.ts': 'a secret of at most 64 KiB',
        'connector/files/exact-json.ts': 'a body of at most 4 MiB (eventBounds.body), with limits of events a second',
        'connectors/brand-icons.ts': 'a file of a package',
        'connectors/google/service-account.ts': 'a file of the operator; runners read keys of tenants with it',
        'connectors/installed/installed.ts': 'files of the operator',
        'connectors/installed/package-manifest.ts': 'files of the operator',
        'connectors/platform-api/json.ts':
          'answers of secret managers of at most 256 KiB; runners read other answers with it',
        'connectors/programs/program.ts': 'nothing here: runners read reports with it',
        'engine/mapping/json-text.ts': 'keys of a mapping of at most 10,000 characters (textLengthMax)',
        'engine/mapping/read-mapping.ts': 'a mapping of at most 10,000 characters (textLengthMax)',
        'expressions/functions/facts.ts': 'constants, when the file is loaded',
        'expressions/functions/values.ts': 'nothing here: runners evaluate expressions',
        'server/cli/welcome.ts': 'a file of the operator',
        'server/connections/templates.ts': 'a stored mapping of at most 10,000 characters',
        'server/connectors/definitions.ts': 'definitions of connectors that the operator added',
        'server/embedded/binaries.ts': 'files of packages',
        'server/secret-manager-settings.ts': 'a file of the operator',
        'server/secret-managers/secret-managers.ts': 'a secret of at most 256 KiB of a secret manager',
        'server/secrets/seal.ts': 'a stored value, as large as it was accepted',
        'server/streams/signatures/signed-request.ts': 'a body of at most 256 KiB (bytesMax)',
        'server/streams/signatures/signed-text.ts': 'a body of at most 4 MiB (eventBounds.body), by rate',
        'server/telemetry/log-records.ts': 'log lines of the service',
        'server/transfers/data-subjects/search.ts':
          'kept records, with pauses; at most 5,000 in a request, all of a transfer at most 32 MiB, so that one takes at most 0.2 s',
        'server/transfers/job-rejects.ts': 'kept records of a job of a worker, one by one',
        'server/transfers/reject-edits.ts': 'at most 100 kept records of at most 256 KiB (rejectEditedLengthMax)',
        'server/transfers/reject-reasons.ts': 'a kept reason with at most 50 further faults of one record',
        'server/transfers/rejects.ts': 'kept records of at most 64 KiB, with pauses',
        'server/transfers/use-trigger.ts': 'a body of at most 1 MiB, after its secret and its signature were checked',
        'server/users/scim/values.ts': 'a text of a filter of at most 1,000 characters',
        'server/version.ts': 'a file of the package',
        'wire/field-values.ts': 'a field of a body',
        'wire/openapi/schemas.ts': 'the contract of the service',
      },
    },
    'Intl, by names of tenants': {
      use: /\bIntl\.\w+\(/,
      places: {
        'connectors/catalogue.ts': 'names of connectors',
        'connectors/kit/report-days.ts': 'a time zone, at most as long as a field of a body; unknown ones are refused',
        'engine/mapping/country.ts': 'a constant list of countries',
        'expressions/local/timezones.ts':
          'a time zone of a mapping of at most 10,000 characters; unknown ones are refused',
        'server/transfers/times.ts': 'a time zone of at most 100 characters (timezoneLengthMax)',
      },
    },
    'compressed data': {
      use: /'node:zlib'/,
      places: {
        'connector/egress/answer.ts': 'answers of secret managers and webhooks, within the bounds of their readers',
        'connectors/platform-api/call.ts': 'nothing here: runners unpack answers with it',
        'server/documents/resource.ts': 'packs documents of the service, and unpacks nothing',
        'server/streams/body.ts': 'bodies with events, in other threads, up to 4 MiB (eventBounds.body)',
        'server/streams/lines.ts': 'packs events, and unpacks nothing',
      },
    },
    'certificates and keys': {
      use: /X509Certificate|\bcreate(?:Public|Private)Key\(/,
      places: {
        'server/db/tls.ts': 'files of the operator',
        'server/identity-tokens/signing-keys.ts': 'a key that this service made and sealed',
        'server/streams/signatures/keys.ts': 'a setting, which is a key of one of two kinds or refused',
      },
    },
  }

test('every library of a process that answers the API is listed with what it reads', () => {
  const found = new Set(
    loaded.flatMap(({ text }) =>
      readImports(text)
        .filter(({ specifier, typeOnly }) => !typeOnly && !/^[.]|^@penstock\//.test(specifier) && !isBuiltin(specifier))
        .map(({ specifier }) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')),
    ),
  )
  assert(loaded.length > 500)
  assert.deepEqual([...found].sort(), Object.keys(libraries).sort(), 'say what the library reads, and its bound')
})

for (const [name, { use, places }] of Object.entries(functions))
  test(`every place in a process that answers the API is listed with its bound: ${name}`, () => {
    const found = loaded.filter(({ text }) => use.test(text)).map(({ path }) => path)
    assert.deepEqual(found, Object.keys(places).sort(), 'say what it reads here, and its bound')
  })
