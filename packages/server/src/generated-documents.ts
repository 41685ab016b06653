import { readFileSync } from 'node:fs'
import { configurationSchema, schemaFile } from '@penstock/configuration/schema'
import {
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

/** The address of a service with default settings. */
const documentedUrl = 'http://127.0.0.1:8080'

/** The documents that are written from the code, with their paths in the repository. */
export function generatedDocuments(): { path: string; content: string }[] {
  return [
    { path: 'docs/openapi.json', content: `${JSON.stringify(openApiDocument(documentedUrl), null, 2)}\n` },
    { path: 'docs/errors.md', content: errorsDocument() },
    { path: 'docs/access.md', content: accessDocument() },
    { path: `docs/${schemaFile}`, content: `${JSON.stringify(configurationSchema, null, 2)}\n` },
    { path: webhooksPath, content: webhooksDocument() },
    ...connectorDocuments(),
  ]
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

function errorsDocument(): string {
  const sections = Map.groupBy(Object.keys(errors) as ErrorCode[], (code) => errors[code].status)
  return `<!-- Written from packages/wire/src/errors.ts, transfer-errors.ts and finding-warnings.ts by: npm run documents -->

# Errors

There are two kinds: [refusals](#refusals), with which the API answers a call, and [errors of transfers](#errors-of-transfers),
previews and checks, which happen at a platform or while data moves.

## Refusals

Every refusal has the envelope of all answers: \`statusCode\` equals the HTTP status, \`statusMessage\` says in
one sentence what happened and what to do, and \`response\` holds what a program needs:

- \`error\`: the code, one of those below. It never changes its meaning, so let programs decide by it.
- \`requestId\`: the identifier of the request in the service's log. Give it to the operator when you ask for help.
- \`details\`: every field error of the request at once, each with the \`field\` that is wrong and a \`message\` that says what to do
  about it. It is empty where no field is wrong.

For example, a sub-account was to be created without a name, and with a field that accounts do not have:

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

Read \`field\` as a path: \`body\`, \`query\` or \`header\`, then the name; or what prevents the change, such as
\`connection.<id>\`. Here \`name\` must be sent and \`colour\` must not; once both are fixed the request is accepted.

After 408, 429 and 503 the same request can be sent again, after the seconds in \`Retry-After\` where the header is
there; give a POST an \`Idempotency-Key\`, so that it is not done twice. After any other refusal something has to change
first. A refused request has changed nothing.

${[...sections].map(([status, codes]) => `## ${status}\n\n${codes.map(describeCode).join('\n')}`).join('\n')}
${transferErrorsDocument()}`
}

function transferErrorsDocument(): string {
  const actions = Object.entries(errorActions) as [ErrorAction, string][]
  return `## Errors of transfers

The \`error\` of a transfer, of a check, and the \`cause\` of the refusal \`platform_refused\` have these keys:

- \`code\`: one of those below. What the service does follows from the code alone. Transfers that ran with earlier versions
  can have codes that are no longer in use.
- \`message\`: what happened and what to do, in this case.
- \`side\`: where it happened: \`source\`, \`destination\`, or \`service\` where it is of neither.
- \`connectorId\`: the connector of that side; null where the side is \`service\`.

A running transfer has an \`error\` too, while it retries; it is gone once the destination confirms a batch.

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
