import { readFileSync } from 'node:fs'
import { configurationSchema, schemaFile } from '@penstock/configuration/schema'
import { listedConnectors } from '@penstock/connectors'
import { expressionTables } from '@penstock/expressions/documents'
import {
  alertConditions,
  type ErrorAction,
  type ErrorCode,
  errorActions,
  errors,
  events,
  findingWarnings,
  type Operation,
  operations,
  refusalsOf,
  transferErrors,
} from '@penstock/wire'
import { exampleRefusal, openApiDocument } from '@penstock/wire/openapi'
import { accessDocument } from './access-document.ts'
import { connectorDocuments } from './connector-documents.ts'
import { ecapiTable } from './documents/ecapi.ts'

/** The address of a service with default settings. */
const documentedUrl = 'http://127.0.0.1:8080'

/** The documents that are written from the code, with their paths in the repository. */
export function generatedDocuments(): { path: string; content: string }[] {
  return [
    { path: 'docs/openapi.json', content: `${lines(openApiDocument(documentedUrl), 3)}\n` },
    { path: 'docs/errors.md', content: errorsDocument() },
    { path: 'docs/access.md', content: accessDocument() },
    { path: `docs/${schemaFile}`, content: `${JSON.stringify(configurationSchema, null, 2)}\n` },
    { path: alertsPath, content: alertsDocument() },
    { path: webhooksPath, content: webhooksDocument() },
    { path: expressionsPath, content: expressionsDocument() },
    { path: ecapiPath, content: documentWith(ecapiPath, 'packages/connectors', ecapiTable(listedConnectors)) },
    ...connectorDocuments(),
  ]
}

/**
 * JSON with a line for each entry of the outermost `levels` of objects: in the contract a line for each operation and each
 * component, so that a change of the API changes few lines.
 */
function lines(value: unknown, levels: number, indent = ''): string {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  const inner = `${indent}  `
  const written = entries.map(([key, entry]) => `${inner}${JSON.stringify(key)}: ${lines(entry, levels - 1, inner)}`)
  return `{\n${written.join(',\n')}\n${indent}}`
}

const webhooksPath = 'docs/webhooks.md'
const eventsMark = '<!-- Written from packages/wire/src/events.ts by: npm run documents -->\n'

/** The page as it is, up to the table of the events. */
function webhooksDocument(): string {
  const text = readFileSync(new URL(`../../../${webhooksPath}`, import.meta.url), 'utf8')
  const lines = Object.entries(events).map(([type, { when, data, scope }]) => {
    const keys = Object.keys(data.properties).map((key) => `\`${key}\``)
    return `| \`${type}\` | ${when}. Data: ${keys.join(', ')} | \`${scope}\` |\n`
  })
  return `${text.split(eventsMark, 1)[0]}${eventsMark}\n| Type | Sent when | Scope |\n|---|---|---|\n${lines.join('')}`
}

const writtenEnd = '<!-- End of the written part -->\n'

/** A page as it is, with a part between two marks. */
function documentWith(path: string, source: string, part: string): string {
  const mark = `<!-- Written from ${source} by: npm run documents -->\n`
  const text = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const [before = '', rest = ''] = text.split(mark)
  return `${before}${mark}\n${part}\n${writtenEnd}${rest.split(writtenEnd)[1]}`
}

const ecapiPath = 'docs/ecapi.md'

const expressionsPath = 'docs/expressions.md'
const expressionsDocument = () =>
  documentWith(expressionsPath, 'packages/expressions/src/functions', expressionTables())

const alertsPath = 'docs/alerts.md'
function alertsDocument(): string {
  const lines = Object.entries(alertConditions).map(
    ([name, { begins, ends }]) => `| \`${name}\` | ${begins} | ${ends} |\n`,
  )
  const table = `| Condition | An incident begins when | and is over when |\n|---|---|---|\n${lines.join('')}`
  return documentWith(alertsPath, 'packages/wire/src/alert-conditions.ts', table)
}

function errorsDocument(): string {
  const sections = Map.groupBy(Object.keys(errors) as ErrorCode[], (code) => errors[code].status)
  return `<!-- Written from packages/wire/src/errors.ts, transfer-errors.ts and finding-warnings.ts by: npm run documents -->

# Errors

There are two kinds. The API answers a call with a [refusal](#refusals). [Errors of transfers](#errors-of-transfers), previews
and checks happen at a platform or while data moves.

## Refusals

A refusal has the same envelope as every answer. \`statusCode\` is the HTTP status. \`statusMessage\` says in one sentence what
happened and what to do. \`response\` contains the details for programs:

- \`error\`: a code from this page. Its meaning never changes, so programs can rely on it.
- \`requestId\`: the identifier of the request in the log of the service. Send it to the operator when you ask for help.
- \`details\`: all field errors of the request, each with the invalid \`field\` and a \`message\` that says how to fix it. The list is
  empty if no field is invalid.

For example, this request creates a sub-account without a name, and with an unknown field:

\`\`\`http
POST /es/v2/accounts
Authorization: Bearer <token>
Content-Type: application/json

{"colour":"blue"}
\`\`\`

\`\`\`http
HTTP/1.1 400 Bad Request
Content-Type: application/json; charset=utf-8
X-Request-Id: ${requestIdOf('invalid_request')}

${JSON.stringify(exampleRefusal('invalid_request'), null, 2)}
\`\`\`

\`field\` is a path that begins with \`body\`, \`query\` or \`header\`, or the resource that prevents the change, such as
\`connection.<id>\`. In this example, send \`name\` and omit \`colour\`.

After 408, 429 and 503 you can send the same request again. If there is a \`Retry-After\` header, wait for its seconds. Send a
POST with an \`Idempotency-Key\`, so that it is not done twice. After any other refusal, fix the problem first. A refused request
has changed nothing.

${[...sections].map(([status, codes]) => `## ${status}\n\n${codes.map(describeCode).join('\n')}`).join('\n')}
${transferErrorsDocument()}`
}

function transferErrorsDocument(): string {
  const actions = Object.entries(errorActions) as [ErrorAction, string][]
  return `## Errors of transfers

The \`error\` of a transfer, of a check, and the \`cause\` of the refusal \`platform_refused\` have these keys:

- \`code\`: a code from this page. Only the code decides what the service does. Transfers of earlier versions can have codes
  that are no longer in use.
- \`message\`: what happened and what to do, in this case.
- \`side\`: where it happened: \`source\`, \`destination\` or \`service\`.
- \`connectorId\`: the connector of that side, or null for \`service\`.

A running transfer has an \`error\` while it retries. The error is removed when the destination confirms a batch.

${actions.map(([action, meaning]) => `### Action: ${action}\n\n${meaning}\n\n${tableOf(transferErrorsWith(action))}`).join('\n')}
### Warnings of a preview

The \`findings\` of a preview have the code with which a transfer would fail, or one of these, which fail no transfer:

${tableOf(Object.entries(findingWarnings))}`
}

const transferErrorsWith = (wanted: ErrorAction) =>
  Object.entries(transferErrors).filter(([, { action }]) => action === wanted)

const tableOf = (entries: readonly (readonly [string, { readonly when: string; readonly todo: string }])[]): string =>
  `| Code | When | What to do |\n|---|---|---|\n${entries
    .map(([code, { when, todo }]) => `| \`${code}\` | ${when} | ${todo} |\n`)
    .join('')}`

function describeCode(code: ErrorCode): string {
  const { message, when } = errors[code]
  return `### \`${code}\`

> ${message}

${when}

Answered by: ${answeredBy(code)}.
`
}

/** The operations that can answer a code, in words that stay short where many can. */
function answeredBy(code: ErrorCode): string {
  const all = Object.entries<Operation>(operations)
  const answering = all.filter(([, operation]) => refusalsOf(operation).includes(code))
  const others = all.filter((entry) => !answering.includes(entry))
  const names = (entries: typeof all) => entries.map(([id]) => `\`${id}\``).join(', ')
  if (others.length === 0) return 'every operation'
  if (others.length <= 3) return `every operation but ${names(others)}`
  return names(answering)
}

function requestIdOf(code: ErrorCode): string {
  const { response } = exampleRefusal(code)
  return (response as { requestId: string }).requestId
}
