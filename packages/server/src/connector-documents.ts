import { type Connector, movesIn } from '@penstock/connector'
import { connectors } from '@penstock/connectors'

/** `docs/connectors/README.md`: the list of all connectors. The service renders the page of each from its definition. */
export const connectorDocuments = (): { path: string; content: string }[] => [
  { path: 'docs/connectors/README.md', content: indexDocument() },
]

/** In which roles data moves, if it does not in all of them. */
function moves(connector: Connector): string {
  const moving = connector.roles.filter((role) => movesIn(connector, role))
  if (moving.length === 0) return ''
  return moving.length === connector.roles.length ? 'yes' : `as a ${moving.join(', ').toLowerCase()}`
}

function indexDocument(): string {
  const moving = connectors.filter(({ integrated }) => integrated)
  const row = (connector: Connector) => {
    const { slug, name, platform, roles, dataType } = connector
    return `| ${name} | \`${slug}\` | ${platform.name} | ${roles.join(', ')} | ${dataType} | ${moves(connector)} |`
  }
  return `<!-- Written from packages/connectors by: npm run documents -->

# Connectors

${connectors.length} connectors are in the catalogue. Data moves through ${moving.length} of them; the others can be added,
configured and paired, and wait for the code that moves their data. The service has the page of each connector under
\`/docs/connectors/<slug>\`: its fields, what it reads or takes, its limits, and what it was tested against.

| Connector | Slug | Platform | Role | Data type | Data moves |
|---|---|---|---|---|---|
${connectors.map(row).join('\n')}
`
}
