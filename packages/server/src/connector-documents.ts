import type { Authorization, Connector, Fields, Records, Values } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import type { Role } from '@penstock/wire'

/** `docs/connectors/`: a page for each connector, written from its definition, and one that lists them. */
export function connectorDocuments(): { path: string; content: string }[] {
  return [
    { path: 'docs/connectors/README.md', content: indexDocument() },
    ...connectors.map((connector) => ({ path: `docs/connectors/${connector.slug}.md`, content: page(connector) })),
  ]
}

const origin = '<!-- Written from packages/connectors by: npm run documents -->\n'

function indexDocument(): string {
  const moving = connectors.filter(({ integrated }) => integrated)
  const row = ({ slug, name, platform, roles, dataType, integrated }: Connector) =>
    `| [${name}](${slug}.md) | ${platform.name} | ${roles.join(', ')} | ${dataType} | ${integrated ? 'yes' : ''} |`
  return `${origin}
# Connectors

${connectors.length} connectors are in the catalogue. Data moves through ${moving.length} of them; the others can be added,
configured and paired, and wait for the code that moves their data.

| Connector | Platform | Role | Data type | Data moves |
|---|---|---|---|---|
${connectors.map(row).join('\n')}
`
}

function page(connector: Connector): string {
  const { name, slug, description, platform, dataType, dataTypeCategory, notes, tested, api, authorization } = connector
  const { secrets, source, destination } = connector
  const parts = [
    `${origin}\n# ${name}\n\n${description}`,
    `| | |\n|---|---|\n| Slug | \`${slug}\` |\n| Platform | ${platform.name}, ${platform.type} |\n| Role | ${connector.roles.join(', ')} |\n| Data type | ${dataType}, ${dataTypeCategory} |\n| Data moves | ${connector.integrated ? 'yes' : 'not yet: a catalogue entry'} |${api ? `\n| API version | ${cell(`${api.version}; ${api.ends}`)} |` : ''}${tested ? `\n| Tested against | ${cell(tested)} |` : ''}`,
    notes ? `## Before you use it\n\n${notes}` : '',
    `## Configuration\n\n${authorization ? `${authorizationNote(authorization)}\n\n` : ''}${fieldsTable(secrets) || 'There is nothing to configure.'}`,
    source ? end('Source', source.fields, source.records) : '',
    destination ? end('Destination', destination.fields, destination.records, limitsOf(connector)) : '',
  ]
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

/** How a user authorizes the connector, where the operator has seen to it. */
const authorizationNote = ({ server, scopes, client, refreshToken }: Authorization): string =>
  `Where the operator has registered an app with ${server.name}, [sign in with a click](../authorizations.md) in place of entering ${[client.id, client.secret, refreshToken].map((key) => `\`${key}\``).join(', ')}. Access is asked for with ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`

function end(role: Role, fields: Fields = {}, records: Records = {}, limits = ''): string {
  const takes = role === 'Source' ? 'Columns it gives' : 'Columns it takes'
  return [
    `## As a ${role.toLowerCase()}`,
    `### Settings of a connection\n\n${fieldsTable(fields) || 'A connection has no settings for this side.'}`,
    `### ${takes}\n\n${recordsTable(records) || 'Any: they follow from the data.'}`,
    limits,
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** What a batch holds, with the settings as they are by default. */
function limitsOf({ destination }: Connector): string {
  if (!destination?.deliver) return ''
  const settings: Values = Object.fromEntries(
    Object.entries(destination.fields ?? {}).flatMap(([key, field]) =>
      field.default === undefined ? [] : [[key, field.default]],
    ),
  )
  const { rowsMax, bytesMax } = destination.deliver.batch(settings)
  return `### Limits\n\nA batch holds at most ${rowsMax.toLocaleString('en')} rows and ${bytesMax.toLocaleString('en')} bytes.`
}

function fieldsTable(fields: Fields): string {
  const rows = Object.entries(fields).map(
    ([key, { label, description, type, required, when, role, options, min, max, default: fallback, binds = [] }]) => {
      const about = [
        `${label}. ${description}${/[.!?]$/.test(description) ? '' : '.'}`,
        options ? `One of: ${options.map((option) => `\`${option}\``).join(', ')}.` : '',
        min !== undefined || max !== undefined ? `${min ?? '…'} to ${max ?? '…'}.` : '',
        fallback === undefined ? '' : `Default: \`${fallback}\`.`,
        when
          ? `Where ${Object.entries(when)
              .map(
                ([other, values]) =>
                  `\`${other}\` is ${[values]
                    .flat()
                    .map((value) => `\`${value}\``)
                    .join(' or ')}`,
              )
              .join(' and ')}.`
          : '',
        role ? `As a ${role.toLowerCase()} only.` : '',
        binds.length > 0 ? `When it changes, send ${binds.map((name) => `\`${name}\``).join(', ')} again.` : '',
      ]
      return `| \`${key}\` | ${type} | ${required ? 'yes' : ''} | ${cell(about.filter(Boolean).join(' '))} |`
    },
  )
  return rows.length > 0 ? `| Field | Type | Required | |\n|---|---|---|---|\n${rows.join('\n')}` : ''
}

function recordsTable(records: Records): string {
  const rows = Object.entries(records).map(([key, { description, required, normalise, hashed, oneOf, values }]) => {
    const form = [
      normalise ?? '',
      hashed ? `hashed: ${hashed.join(', ')}` : '',
      values ? values.map((value) => `\`${value}\``).join(', ') : '',
    ]
    return `| \`${key}\` | ${required ? 'yes' : oneOf ? `one of ${oneOf}` : ''} | ${form.filter(Boolean).join('; ')} | ${cell(description)} |`
  })
  return rows.length > 0 ? `| Column | Required | Form | |\n|---|---|---|---|\n${rows.join('\n')}` : ''
}

/** A text as a cell of a table. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
